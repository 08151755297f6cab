/**
 * Keeps conditions in force at a server that may end and start again: the owner of a store, or DNS.
 *
 * When the connection ends, this process connects again at once and until it succeeds, so the next
 * runtime has the conditions as soon as it listens.
 */
import { UserError } from "../../base/user-error.ts";
import { ConditionsLink, type ConditionsPlace } from "./conditions-link.ts";

interface ConnectionOptions {
  /** @throws UserError that says why the server cannot be reached */
  readonly findPlace: () => Promise<ConditionsPlace>;
  /** The sentences for an error of the connection. */
  readonly explain: (error: Error) => string;
}

const retryMilliseconds = 20;
/** After so many attempts the server does not start at this moment, and the pauses are longer. */
const briskAttempts = 500;
const patientRetryMilliseconds = 250;

export class ConditionsConnection<Conditions extends object, Report> {
  readonly #options: ConnectionOptions;
  /** `null`: nothing is unusual, and there is no connection. */
  #wanted: Conditions | null = null;
  #link: ConditionsLink | null = null;
  #problem: Error | null = null;
  #changes: Promise<void> = Promise.resolve();
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** Why the conditions are not in force; `null` when they are. */
  get problem(): string | null {
    const problem = this.#problem;
    if (problem === null) return null;
    return problem instanceof UserError ? problem.message : this.#options.explain(problem);
  }

  /**
   * Replaces the conditions. When the promise resolves, they are in force, or `problem` says why they
   * are not.
   *
   * @param conditions `null`: nothing is unusual
   */
  hold(conditions: Conditions | null): Promise<void> {
    this.#wanted = conditions;
    return this.#apply();
  }

  /** @returns `null` while the conditions are not in force */
  async report(): Promise<Report | null> {
    await this.#changes;
    return (await this.#link?.send<Report>({}).catch(() => null)) ?? null;
  }

  /** Ends the conditions. */
  async close(): Promise<void> {
    await this.hold(null);
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.#link?.close();
  }

  #apply(): Promise<void> {
    this.#changes = this.#changes.then(() => this.#applyNow());
    return this.#changes;
  }

  async #applyNow(): Promise<void> {
    const wanted = this.#wanted;
    if (this.#isClosed) return;
    try {
      if (wanted !== null) {
        this.#link ??= this.#connected(await this.#options.findPlace());
        await this.#link.send<Report>({ conditions: wanted });
      } else if (this.#link !== null) {
        // The end of the connection would be noticed later than the answer.
        const link = this.#link;
        await link.send({ conditions: null }).catch(() => {});
        link.close();
        await link.ended;
      }
      this.#problem = null;
      this.#failures = 0;
    } catch (error) {
      this.#problem = error as Error;
      this.#link?.close();
      this.#link = null;
      this.#retryLater();
    }
  }

  #connected(place: ConditionsPlace): ConditionsLink {
    const link = new ConditionsLink(place);
    void link.ended.then(() => {
      if (this.#link === link) this.#link = null;
      if (this.#wanted !== null) this.#problem ??= new Error("the connection has ended");
      this.#retryLater();
    });
    return link;
  }

  #retryLater(): void {
    if (this.#isClosed || this.#wanted === null || this.#retry !== undefined) return;
    const isBrisk = ++this.#failures < briskAttempts;
    this.#retry = setTimeout(
      () => {
        this.#retry = undefined;
        void this.#apply();
      },
      isBrisk ? retryMilliseconds : patientRetryMilliseconds,
    ).unref();
  }
}
