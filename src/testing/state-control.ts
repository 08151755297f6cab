/**
 * The state of a runtime's other bindings: KV, D1, R2, caches, Durable Objects. Their files are outside
 * of the runtime (`isolation/state-files.ts`), and change while no object is alive. So the runner asks
 * the server of the files, aborts the objects if the server says so, and lets the server finish.
 */

/** The part of a service binding that is used. */
export interface StateService {
  fetch(
    url: string,
    init: { method: string },
  ): Promise<{ readonly ok: boolean; text(): Promise<string> }>;
}

export class StateControl {
  readonly #service: StateService;
  readonly #abortObjects: () => Promise<void>;
  /** The last step: the server has one step at a time. */
  #last: Promise<void> = Promise.resolve();

  constructor(service: StateService, abortObjects: () => Promise<void>) {
    this.#service = service;
    this.#abortObjects = abortObjects;
  }

  /** @param others what must have ended before objects are aborted */
  openLayer(layer: number, others: Promise<unknown>): Promise<void> {
    return this.#run(`open?layer=${layer}`, others);
  }

  /** @param next an isolation layer to open in the same call */
  closeLayer(layer: number, next: number | undefined, others: Promise<unknown>): Promise<void> {
    return this.#run(`close?layer=${layer}${next === undefined ? "" : `&next=${next}`}`, others);
  }

  #run(step: string, others: Promise<unknown>): Promise<void> {
    const run = this.#last.then(async () => {
      let [mustAbort] = await Promise.all([this.#ask(step), others]);
      while (mustAbort) {
        await this.#abortObjects();
        mustAbort = await this.#ask("finish");
      }
    });
    this.#last = run.catch(() => {});
    return run;
  }

  async #ask(step: string): Promise<boolean> {
    const response = await this.#service.fetch(`http://state/${step}`, { method: "POST" });
    const text = await response.text();
    if (response.ok) return text === "true";
    throw new Error(`Cannot isolate the bindings of a test: ${text}`);
  }
}
