/**
 * Sets up the fixtures of a file and of a worker (`scope: "file"`, `scope: "worker"`) in the layer of the file.
 *
 * vitest sets up such a fixture when the first test uses it, so its writes would be undone with that test. Here each
 * test and its hooks are called once before the first test, with fixtures that vitest finds last and whose set-up
 * fails: vitest sets up what the function uses, and does not reach the function. Fixtures of a test are
 * replaced, and only the fixtures that they depend on are set up. If a set-up fails here, vitest tries again
 * in the test, and reports the error there.
 *
 * This relies on internals of vitest 4.1 (`TestFixtures`). Without them, fixtures are set up by vitest alone.
 */
import { it, TestRunner, type RunnerTestCase as Test } from "vitest";

type Suite = Parameters<TestRunner["onBeforeRunSuite"]>[0];

interface Fixture {
  readonly name: string;
  readonly value: unknown;
  readonly scope: "test" | "file" | "worker";
  readonly auto: boolean;
  readonly deps: ReadonlySet<string>;
  readonly parent?: Fixture | undefined;
}

type Registrations = ReadonlyMap<string, Fixture>;

interface FixturesClass {
  readonly _definitions: readonly { readonly _registrations: Registrations }[];
  readonly prototype: { get: (suite: Suite) => Registrations };
}

const stopName = "ledge:stop";

/** Whether a test of the file has fixtures of the file or of the worker. */
export function hasSharedFixtures(): boolean {
  const { _definitions: definitions = [] } = fixturesClass() ?? {};
  return definitions.some(({ _registrations: registrations }) =>
    [...registrations.values()].some(({ scope }) => scope !== "test"),
  );
}

export async function setUpSharedFixtures(file: Suite): Promise<void> {
  const fixtures = fixturesClass();
  if (fixtures === undefined) return;
  const { get } = fixtures.prototype;
  const copies = new Map<Fixture, Fixture>();
  fixtures.prototype.get = function (suite) {
    return stopAfterShared(get.call(this, suite), copies);
  };
  try {
    await setUp(file, []);
  } finally {
    fixtures.prototype.get = get;
  }
}

/** Calls the tests of a suite that will run, and the hooks of its tests. */
async function setUp(suite: Suite, hooksAbove: readonly TestCall[]): Promise<void> {
  const { beforeEach, aroundEach, afterEach } = TestRunner.getSuiteHooks(suite);
  // The first hook around each test of a file is that of the runner.
  const around = suite === suite.file ? aroundEach.slice(1) : aroundEach;
  const hooks: TestCall[] = [
    ...hooksAbove,
    ...around.map(
      (hook): TestCall =>
        ({ context }) =>
          hook(neverRun, context, suite),
    ),
    ...[...beforeEach, ...afterEach].map(
      (hook): TestCall =>
        ({ context }) =>
          hook(context, suite),
    ),
  ];
  for (const task of suite.tasks) {
    if (task.mode !== "run" && task.mode !== "queued") continue;
    if (task.type === "suite") await setUp(task, hooks);
    else for (const call of [...hooks, callFunction]) await ignoreFailure(() => call(task));
  }
}

type TestCall = (test: Test) => unknown;

const callFunction: TestCall = (test) => TestRunner.getTestFn(test)();

const neverRun = (): Promise<void> => Promise.resolve();

async function ignoreFailure(act: () => unknown): Promise<void> {
  try {
    await act();
  } catch {
    // Every call fails: vitest has not reached the function of the test.
  }
}

function stopAfterShared(
  registrations: Registrations,
  copies: Map<Fixture, Fixture>,
): Registrations {
  const copied = [...registrations].map(([name, each]) => [name, copyOf(each, copies)] as const);
  const stop: Fixture = {
    name: stopName,
    value: () => Promise.reject(new Error(stopName)),
    scope: "file",
    auto: true,
    deps: new Set(),
  };
  return new Map([...copied, [stopName, stop]]);
}

/** vitest remembers by the object that a set-up has failed. So a copy fails once here, and the fixture is as before. */
function copyOf(fixture: Fixture, copies: Map<Fixture, Fixture>): Fixture {
  const known = copies.get(fixture);
  if (known !== undefined) return known;
  const { parent, scope, value } = fixture;
  const copy = {
    ...fixture,
    parent: parent === undefined ? undefined : copyOf(parent, copies),
    value: scope === "test" && typeof value === "function" ? doNothing : value,
  };
  copies.set(fixture, copy);
  return copy;
}

async function doNothing(_: object, use: (value: undefined) => Promise<void>): Promise<void> {
  await use(undefined);
}

/** vitest keeps the class in a property of `it` whose symbol it does not export. */
function fixturesClass(): FixturesClass | undefined {
  const symbol = Object.getOwnPropertySymbols(it).find(
    ({ description }) => description === "kChainableContext",
  );
  const chainable = (it as unknown as Record<symbol, { getFixtures?(): object } | undefined>)[
    symbol ?? Symbol.iterator
  ];
  const found = chainable?.getFixtures?.()?.constructor as Partial<FixturesClass> | undefined;
  const { _definitions: definitions, prototype } = found ?? {};
  const isKnown = Array.isArray(definitions) && typeof prototype?.get === "function";
  return isKnown ? (found as FixturesClass) : undefined;
}
