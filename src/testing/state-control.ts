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

/** A call may wait for something that is not an object: then nothing here can end it. */
const roundsMax = 20;

export class StateControl {
  readonly #service: StateService;
  readonly #abortObjects: () => Promise<void>;
  readonly #hasLateCalls: () => boolean;
  /** The last step: the server has one step at a time. */
  #last: Promise<void> = Promise.resolve();

  /** @param hasLateCalls whether a call of a closed isolation layer is still running */
  constructor(
    service: StateService,
    abortObjects: () => Promise<void>,
    hasLateCalls: () => boolean,
  ) {
    this.#service = service;
    this.#abortObjects = abortObjects;
    this.#hasLateCalls = hasLateCalls;
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
      if (this.#hasLateCalls()) await others.then(() => this.#endLateCalls());
      let [mustAbort] = await Promise.all([this.#ask(step), others]);
      while (mustAbort) {
        await this.#abortObjects();
        mustAbort = await this.#ask("finish");
      }
    });
    this.#last = run.catch(() => {});
    return run;
  }

  /**
   * A call that is on its way could arrive when the files are restored. The end of the objects ends the
   * calls; a call that no object has received yet begins an object anew, so this may take several rounds.
   */
  async #endLateCalls(): Promise<void> {
    for (let round = 0; round < roundsMax && this.#hasLateCalls(); round++) {
      await this.#abortObjects();
    }
  }

  async #ask(step: string): Promise<boolean> {
    const response = await this.#service.fetch(`http://state/${step}`, { method: "POST" });
    const text = await response.text();
    if (response.ok) return text === "true";
    throw new Error(`Cannot isolate the bindings of a test: ${text}`);
  }
}
