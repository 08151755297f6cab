/** Holds or breaks the requests of a page that send files, and counts the requests that reach the server. */
import type { Page, Route } from "playwright-core";

/** What happens to the request that sends a file: `hold` keeps the request until `release()`. */
type Decision = "pass" | "hold" | "break";

export class UploadGate {
  /** How many requests have reached the server. */
  sent = 0;
  readonly #held = new Set<Route>();
  decide: () => Decision = () => "pass";

  static async of(page: Page): Promise<UploadGate> {
    const gate = new UploadGate();
    await page.route(
      (url) => url.pathname.endsWith("/content"),
      (route) => gate.#receive(route),
    );
    return gate;
  }

  /** Lets the held requests and all others pass. */
  async release(): Promise<void> {
    this.decide = () => "pass";
    for (const route of this.#held) await this.#pass(route);
    this.#held.clear();
  }

  get held(): number {
    return this.#held.size;
  }

  async #receive(route: Route): Promise<void> {
    const decision = route.request().method() === "PUT" ? this.decide() : "pass";
    if (decision === "pass") return this.#pass(route);
    if (decision === "break") return route.abort();
    this.#held.add(route);
    return undefined;
  }

  async #pass(route: Route): Promise<void> {
    if (route.request().method() === "PUT") this.sent++;
    await route.continue();
  }
}
