/**
 * The dev server of a Playwright worker, and the state that its tests start from.
 *
 * The base is the state at the start of the server. A hook of a file (`beforeAll`) that uses the server prepares a base
 * for the tests of that file: the first test after the hook saves what is there. The next file begins at the start again.
 */
import { dirname, resolve } from "node:path";
import type { FullConfig, TestInfo } from "@playwright/test";
import type { StartDevOptions } from "../dev/dev-options.ts";
import { UserError } from "../base/user-error.ts";
import { waitingText, type RunningDev } from "../dev/dev-server.ts";
import { startDev } from "../dev/start-dev.ts";
import type { StateControl } from "../saved/state-control.ts";
import { testControl, type DevTestControl } from "../testing/node.ts";

export interface ServerOptions extends Omit<StartDevOptions, "log" | "folder"> {
  /** `false`: tests see what earlier tests of the worker wrote. */
  isolate?: boolean;
}

const startName = "test-start";
const preparedName = "test-prepared";

const freePorts = { port: 0, s3Port: 0, explorerPort: 0, dnsPort: 0, dnsApiPort: 0 };

export class IsolatedServer {
  readonly server: RunningDev;
  readonly control: DevTestControl;
  readonly #isIsolated: boolean;
  /** What the server has printed since the test began. */
  #lines: string[] = [];
  #file: string | null = null;
  /** How many hooks and tests have used the server since the last test. */
  #uses = 0;
  /** `null` until the first use: a worker fixture may prepare what all tests need. */
  #base: string | null = null;
  /** Whether a test has saved or restored a state, to which a reset would go. */
  #isBaseMoved = false;

  private constructor(server: RunningDev, control: DevTestControl, isIsolated: boolean) {
    this.server = server;
    this.control = control;
    this.#isIsolated = isIsolated;
  }

  /**
   * @param options paths are relative to the folder of Playwright's configuration
   * @throws UserError when the script does not run
   */
  static async start(
    { isolate = true, ...options }: ServerOptions,
    { configFile, rootDir }: FullConfig,
  ): Promise<IsolatedServer> {
    const folder = configFile ? dirname(configFile) : rootDir;
    const failure = Promise.withResolvers<never>();
    let log = (text: string): void => {
      if (!text.endsWith(waitingText)) return;
      failure.reject(new UserError(text.slice(0, -waitingText.length).trimEnd()));
    };
    const server = await startDev({
      ...freePorts,
      logLevel: "warn",
      ephemeral: options.persistTo === undefined,
      folder,
      ...options,
      ...(options.seed !== undefined && { seed: resolve(folder, options.seed) }),
      log: (text) => log(text),
    });
    try {
      await Promise.race([server.ready, failure.promise]);
      const isolated = new IsolatedServer(server, await testControl(server), isolate);
      log = (text) => void isolated.#lines.push(text);
      return isolated;
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.control.close();
    await this.server.stop();
  }

  /** The state, for a test: what the test saves or restores is not the base of other tests. */
  get state(): StateControl {
    return new Proxy(this.server.state, {
      get: (state, name: keyof StateControl) => {
        if (name === "save" || name === "restore") this.#isBaseMoved = true;
        return state[name].bind(state);
      },
    });
  }

  /** A hook or a test is about to use the server. */
  async enter({ file, repeatEachIndex }: TestInfo): Promise<void> {
    const entered = `${repeatEachIndex} ${file}`;
    if (this.#isIsolated && this.#file !== entered) {
      if (this.#base === null) {
        await this.server.state.save(startName, { replace: true });
      } else if (this.#base !== startName || this.#uses > 0) {
        await this.server.state.restore(startName);
      }
      this.#base = startName;
      this.#uses = 0;
    }
    this.#file = entered;
    this.#uses++;
  }

  async begin(): Promise<void> {
    if (this.#isIsolated && this.#uses > 1) {
      await this.server.state.save(preparedName, { replace: true });
      this.#base = preparedName;
    }
    this.#uses = 0;
    this.#isBaseMoved = false;
    this.#lines = [];
    await this.control.watchCalls();
  }

  async end(testInfo: TestInfo): Promise<void> {
    const { status, expectedStatus, annotations } = testInfo;
    if (status !== expectedStatus) {
      const report = [...this.#lines, await this.control.describeFaults()].join("\n").trim();
      if (report !== "") await testInfo.attach("ledge", { body: report });
    }
    await this.control.clear();
    if (!this.#isIsolated) return;
    const { state } = this.server;
    const { ended } = await (this.#isBaseMoved
      ? state.restore(this.#base ?? startName)
      : state.reset());
    for (const request of ended) {
      const description = `The test ended before this request, which was ended too: ${request}.`;
      annotations.push({ type: "warning", description });
    }
  }
}
