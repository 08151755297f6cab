/**
 * `ledge/playwright`: Playwright's `test`, on a dev server of the project. Each worker of Playwright has a
 * server and a state folder of its own. Each test starts from the same state, and what the test did is undone when the
 * test ends, while the server runs on.
 *
 *     import { test, expect } from "ledge/playwright";
 *
 * A suite with a `test` of its own merges: `mergeTests(ownTest, test)`.
 */
import { expect as baseExpect, test as baseTest } from "@playwright/test";
import "../base/require-node.ts";
import type { RunningDev } from "../dev/dev-server.ts";
import type { StateControl } from "../saved/state-control.ts";
import type { Call } from "../store/core/fault.ts";
import { callMatchers, queryMatchers } from "../testing/matchers.ts";
import type { DevTestControl } from "../testing/node.ts";
import { IsolatedServer, type ServerOptions } from "./isolated-server.ts";

export type { ServerOptions } from "./isolated-server.ts";

/** Options of a Playwright configuration: `defineConfig<object, LedgeOptions>({ use: { ledge: { … } } })`. */
export interface LedgeOptions {
  /** Those of `startDev()`. By default ports are free ones, and the state is gone when the worker ends. */
  ledge: ServerOptions;
}

export interface LedgeWorkerFixtures {
  /** The dev server of this worker. */
  server: RunningDev;
}

export interface LedgeFixtures {
  /** Saves and restores states. The end of a test undoes a restore, too. */
  state: StateControl;
  /** Faults of buckets. They end with the test. */
  faults: DevTestControl["faults"];
  /** The clock of the store. It is that of the machine again when the test ends. */
  clock: DevTestControl["clock"];
  /** The calls of buckets since the test began: `expect(await calls()).toHavePut("a.png")`. */
  calls: () => Promise<readonly Call[]>;
  /** Zones, faults of queries, and the log of queries since the test began. */
  dns: DevTestControl["dns"];
  /** Puts objects into a bucket: by key, or the files below a folder. */
  seed: DevTestControl["seed"];
  /** The objects of a bucket by key. */
  contents: DevTestControl["contents"];
}

interface HiddenWorkerFixtures {
  _isolated: IsolatedServer;
}

interface HiddenFixtures {
  /** Every fixture that reaches the server depends on it, so the server knows of hooks that prepare something. */
  _entered: IsolatedServer;
  _isolation: void;
}

const serverMilliseconds = 120_000;

const extended = baseTest.extend<
  LedgeFixtures & HiddenFixtures,
  LedgeWorkerFixtures & LedgeOptions & HiddenWorkerFixtures
>({
  ledge: [{}, { option: true, scope: "worker" }],
  _isolated: [
    async ({ ledge }, use, { config }) => {
      const isolated = await IsolatedServer.start(ledge, config);
      await use(isolated);
      await isolated.stop();
    },
    { scope: "worker", timeout: serverMilliseconds, box: true },
  ],
  server: [({ _isolated }, use) => use(_isolated.server), { scope: "worker" }],
  _entered: [
    async ({ _isolated }, use, testInfo) => {
      await _isolated.enter(testInfo);
      await use(_isolated);
    },
    { scope: "test", box: true },
  ],
  _isolation: [
    async ({ _entered }, use, testInfo) => {
      await _entered.begin();
      await use();
      await _entered.end(testInfo);
    },
    { auto: true, title: "isolation of the test", timeout: serverMilliseconds },
  ],
  baseURL: ({ _entered }, use) => use(_entered.server.url),
  state: ({ _entered }, use) => use(_entered.state),
  faults: ({ _entered }, use) => use(_entered.control.faults),
  clock: ({ _entered }, use) => use(_entered.control.clock),
  calls: ({ _entered }, use) => use(() => _entered.control.calls()),
  dns: async ({ _entered }, use) => {
    await _entered.control.dns.watchQueries();
    await use(_entered.control.dns);
  },
  seed: ({ _entered }, use) => use(_entered.control.seed.bind(_entered.control)),
  contents: ({ _entered }, use) => use(_entered.control.contents.bind(_entered.control)),
});

export const test = extended as TestWithLedge;
type TestWithLedge = ReturnType<
  typeof baseTest.extend<LedgeFixtures, LedgeWorkerFixtures & LedgeOptions>
>;

export const expect = baseExpect.extend({ ...callMatchers, ...queryMatchers });
