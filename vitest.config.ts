/**
 * The suites are projects, in three tiers. `vitest run` runs the first tier, `npm test`: every promise of
 * the README once. `--project` names the others: those of `npm run test:more`, which the gate runs too,
 * and those of `npm run test:long`, which install programs or take long (`test/long.ts`).
 */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from "vitest/config";

// The tests start hundreds of processes, which load the same modules: Node compiles each once.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(
  new URL("node_modules/.cache/node", import.meta.url),
);

// Miniflare gives each certificate of this file to each runtime, which doubles the time of a start if the
// file is a system's list of authorities. No test reaches a server outside this machine.
delete process.env["NODE_EXTRA_CA_CERTS"];

/** `test/dev/keys.test.ts` needs `script` of util-linux: other systems have other versions or none. */
const hasTerminal = process.platform === "linux" && existsSync("/usr/bin/script");

/** The second tier, by subject. What a promise of the README needs is in the first tier. */
const secondTier = [
  "test/cli/{build*,dns-import,dns-owner,init,output,remote*,state,store-*,types}.test.ts",
  "test/dev/{bindings,dns,dns-faults,keys,options,seed,several-scripts,state*}.test.ts",
  "test/dns/{catalog,durability,key-roll,listeners,repeated-requests,transfer}.test.ts",
  "test/docs/state.test.ts",
  "test/edge/members.test.ts",
  "test/explorer/{activity,archive,changes,faults-lifetime,remote-bucket,tasks}.test.ts",
  "test/faults/{access*,backup,bad-input-files,channels,damage,failing-io,load,ownership,readers}.test.ts",
  "test/s3/operations.test.ts",
  "test/saved/{archive,folder-state,kills}.test.ts",
  "test/store/{arriving-files,crash,damage,differential,own-runtime,sharing,state-folder,store-client}.test.ts",
  "test/store/{remote-[abfmnpr]*,remote-client,remote-connection}.test.ts",
];

/** Needs root and a device of its own: `npm run test:long -- faults`. */
const thirdTier = ["test/faults/power.test.ts"];

/** The promise of isolation in the pool, by one of the files that `test/tools` runs in many orders. */
const isolationInShort = "test/tools/leaks-between-tests.test.ts";

/** Tests of remote buckets on a Ceph cluster. */
const onCephOnly = "test/peers/remote-*.test.ts";

/** Runtimes start and stop slowly on a busy machine, and some tests start many. */
const withRuntimes = {
  // Node loads TypeScript itself, and faster than vite does.
  experimental: { viteModuleRunner: false },
  testTimeout: 180_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 60_000 } },
};

const inThisFile: Record<string, TestProjectInlineConfiguration["test"]> = {
  unit: {
    experimental: withRuntimes.experimental,
    include: ["src/**/*.test.ts", "worker/**/*.test.ts"],
    // Tests of pure functions need no isolation, and isolation would take longer than the tests.
    isolate: false,
    pool: "threads",
    // Property tests run hundreds of cases, which takes long on a busy machine.
    testTimeout: 60_000,
  },
  integration: {
    ...withRuntimes,
    include: [
      "test/{store,s3,dns,dev,edge,saved,cli,explorer,faults,docs}/*.test.ts",
      isolationInShort,
    ],
    exclude: [...configDefaults.exclude, ...secondTier, ...thirdTier],
    // Tests share no state, and a process for each file would load the same modules again.
    isolate: false,
  },
  more: {
    ...withRuntimes,
    include: secondTier,
    exclude: [...configDefaults.exclude, ...(hasTerminal ? [] : ["test/dev/keys.test.ts"])],
    isolate: false,
  },
  power: { ...withRuntimes, include: thirdTier, maxWorkers: 1 },
  // Projects that use the package through other tools, as their users do.
  tools: {
    ...withRuntimes,
    include: ["test/tools/*.test.ts"],
    exclude: [...configDefaults.exclude, isolationInShort],
    // A project's tests need a core and more: several at once would only wait for each other.
    maxWorkers: 2,
    sequence: { groupOrder: 1 },
  },
  browser: {
    ...withRuntimes,
    include: ["test/browser/*.test.ts"],
    isolate: false,
    maxWorkers: 2,
    sequence: { groupOrder: 2 },
  },
  peers: {
    ...withRuntimes,
    include: ["test/peers/**/*.test.ts"],
    exclude: [...configDefaults.exclude, onCephOnly],
    testTimeout: 300_000,
    maxWorkers: 2,
    sequence: { groupOrder: 3 },
  },
  ceph: {
    ...withRuntimes,
    // Tests of remote buckets, which otherwise run on our own endpoint.
    include: [onCephOnly, "test/store/remote-{bucket,faults,namespace,put-off}.test.ts"],
    globalSetup: "test/peers/ceph/global-setup.ts",
    testTimeout: 300_000,
    fileParallelism: false,
  },
};

/** Projects of the vitest pool, and of the examples, which have configurations like a user's. */
const inFiles = {
  first: ["./test/store/conformance/vitest.config.ts", "./examples/!(cluster)/vitest.config.ts"],
  more: ["./test/store/conformance/remote/vitest.config.ts", "./examples/cluster/vitest.config.ts"],
};

function inline(name: string): TestProjectInlineConfiguration {
  return { test: { ...inThisFile[name], name } };
}

/** Only the projects that `--project` names, because those in files load the build and the pool. */
function selectedProjects(): (string | TestProjectInlineConfiguration)[] {
  const names = process.argv.flatMap((argument, index, all) =>
    argument.startsWith("--project") ? [argument.split("=")[1] ?? all[index + 1] ?? ""] : [],
  );
  if (names.length === 0) return [inline("unit"), inline("integration"), ...inFiles.first];
  const known = names.filter((name) => name in inThisFile);
  const others = known.length < names.length ? [...inFiles.first, ...inFiles.more] : [];
  return [...known.map(inline), ...others];
}

export default defineConfig({
  test: {
    // More than the cores, because most tests wait for runtimes that they have started.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    projects: selectedProjects(),
  },
});
