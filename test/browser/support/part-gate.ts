/**
 * Holds or breaks the requests of a page that send parts of files, and counts the requests that reach
 * the server.
 */
import type { Page, Route } from "playwright-core";

/** What happens to the request that sends a part: `hold` keeps the request until `release()`. */
type Decision = "pass" | "hold" | "break";

export class PartGate {
  /** How often the server got each part, by number. */
  readonly sent = new Map<number, number>();
  /** How often the request of a part was broken, by number. */
  readonly broken = new Map<number, number>();
  readonly #held = new Set<{ readonly route: Route; readonly partNumber: number }>();
  decide: (partNumber: number) => Decision = () => "pass";

  static async of(page: Page): Promise<PartGate> {
    const gate = new PartGate();
    await page.route(/\/uploads\/[^/]+\/parts\/\d+\?/, (route) => gate.#receive(route));
    return gate;
  }

  /** Lets the held requests and all others pass. */
  async release(): Promise<void> {
    this.decide = () => "pass";
    const held = [...this.#held];
    this.#held.clear();
    for (const { route, partNumber } of held) await this.#pass(route, partNumber);
  }

  /** The page has ended the held requests. */
  forget(): void {
    this.#held.clear();
  }

  get held(): number {
    return this.#held.size;
  }

  async #receive(route: Route): Promise<void> {
    const partNumber = Number(/\/parts\/(\d+)\?/.exec(route.request().url())?.[1]);
    switch (this.decide(partNumber)) {
      case "pass":
        return this.#pass(route, partNumber);
      case "hold":
        this.#held.add({ route, partNumber });
        return undefined;
      case "break":
        this.broken.set(partNumber, (this.broken.get(partNumber) ?? 0) + 1);
        return route.abort();
    }
  }

  async #pass(route: Route, partNumber: number): Promise<void> {
    this.sent.set(partNumber, (this.sent.get(partNumber) ?? 0) + 1);
    await route.continue();
  }
}
