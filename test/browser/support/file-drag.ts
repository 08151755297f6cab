/**
 * Files that a person drags from the desktop. The browser gets the events that the window system would
 * send: a page cannot make a drop with readable folders by itself.
 */
import type { CDPSession, Locator } from "playwright-core";

type DragEventType = "dragEnter" | "dragOver" | "drop";

export class FileDrag {
  readonly #session: CDPSession;
  readonly #paths: readonly string[];
  #target: Locator;

  private constructor(session: CDPSession, paths: readonly string[], target: Locator) {
    this.#session = session;
    this.#paths = paths;
    this.#target = target;
  }

  /** @param paths of files and folders, absolute */
  static async over(target: Locator, paths: readonly string[]): Promise<FileDrag> {
    const page = target.page();
    const drag = new FileDrag(await page.context().newCDPSession(page), paths, target);
    await drag.#send("dragEnter");
    await drag.#send("dragOver");
    return drag;
  }

  async moveTo(target: Locator): Promise<void> {
    this.#target = target;
    await this.#send("dragOver");
  }

  async drop(): Promise<void> {
    await this.#send("drop");
    await this.#session.detach();
  }

  async #send(type: DragEventType): Promise<void> {
    const box = await this.#target.boundingBox();
    if (box === null) throw new Error("The target of the files is not in the page.");
    await this.#session.send("Input.dispatchDragEvent", {
      type,
      x: box.x + box.width / 2,
      y: box.y + box.height / 2,
      // The operation 1 is "copy".
      data: { items: [], files: [...this.#paths], dragOperationsMask: 1 },
    });
  }
}
