/**
 * Run after a build. Runs the test suites of other projects with the vitest pool alone and with Ledge in
 * the pool's place, and compares the results test by test. A suite's files stay as they are, but for the
 * import of the pool in the configuration of vitest. Needs Node 24 and the registry of npm.
 *
 *     npx node test/tools/foreign.ts                  clones the repositories from GitHub
 *     npx node test/tools/foreign.ts d1 partyserver   only these suites
 *     npx node test/tools/foreign.ts --pool 0.23      only this pool
 *     npx node test/tools/foreign.ts --from FOLDER    takes FOLDER/owner+name, a clone or its parent
 *     npx node test/tools/foreign.ts --in FOLDER      works in FOLDER and keeps it: the next run installs nothing
 *
 * The exit code is 1 for a difference that `support/foreign-suites.ts` does not list, and for a listed
 * difference that is gone.
 */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { testedVersions } from "../../src/base/tested-versions.ts";
import {
  compareResults,
  readResults,
  withLedge,
  withPool,
  type Difference,
  type SuiteResults,
} from "./support/foreign-results.ts";
import {
  foreignRepositories,
  knownDifferences,
  type ForeignRepository,
  type ForeignSuite,
} from "./support/foreign-suites.ts";
import { install, npmInstall } from "./support/matrix/installation.ts";
import { Program } from "./support/matrix/program.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { from: { type: "string" }, in: { type: "string" }, pool: { type: "string" } },
});

/** Each pool with the wrangler that its own release depends on. */
const pools = (
  [
    ["@cloudflare/vitest-pool-workers", testedVersions.wrangler[0]],
    ["@cloudflare/vitest-plugin", testedVersions.wrangler[1]],
  ] as const
).map(([name, wrangler]) => ({ name, version: testedVersions[name][1], wrangler }));
const chosenPools = pools.filter(({ version }) => version.startsWith(values.pool ?? ""));
const allSuites = foreignRepositories.flatMap((repository) =>
  repository.suites.map((suite) => ({ repository, suite, name: nameOf(suite) })),
);
const chosen = allSuites.filter(
  ({ name }) => positionals.length === 0 || positionals.some((text) => name.includes(text)),
);
if (chosenPools.length === 0 || chosen.length === 0) {
  throw new Error(
    `The suites are ${allSuites.map(({ name }) => name).join(", ")}; ` +
      `the pools are ${pools.map(({ version }) => version).join(", ")}.`,
  );
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const work =
  values.in === undefined ? mkdtempSync(join(tmpdir(), "ledge-foreign-")) : resolve(values.in);
if (values.in === undefined) {
  process.once("exit", () => rmSync(work, { recursive: true, force: true, maxRetries: 5 }));
}
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
mkdirSync(work, { recursive: true });
const tarball = join(
  work,
  execFileSync("npm", ["pack", "--silent", "--pack-destination", work], {
    cwd: root,
    encoding: "utf8",
  }).trim(),
);

const rows = [["suite", "pool", "tests", "stock", "Ledge", "difference"]];
let isUnexpected = false;
for (const pool of chosenPools) {
  installPool(pool);
  const repositories = Map.groupBy(chosen, ({ repository }) => repository);
  for (const [repository, members] of repositories) {
    checkOut(repository, pool);
    for (const { suite, name } of members) rows.push(await trySuite(repository, suite, name, pool));
  }
}
rows.splice(
  1,
  0,
  rows[0]!.map(() => "---"),
);
console.log(`\n${rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}`);
process.exitCode = isUnexpected ? 1 : 0;

type Pool = (typeof pools)[number];

/** `misc`, `misc nodejs`, `partyserver`, … */
function nameOf({ folder, name = basename(folder), config = "" }: ForeignSuite): string {
  return `${name} ${/^vitest\.(.+)\.config/.exec(config)?.[1] ?? ""}`.trim();
}

function poolFolder({ version }: Pool): string {
  return join(work, version);
}

function repositoryFolder({ name, commit }: ForeignRepository, pool: Pool): string {
  return join(poolFolder(pool), `${basename(name)}-${commit}`);
}

/** The tools and Ledge are in the folder above those of the repositories. */
function installPool(pool: Pool): void {
  const folder = poolFolder(pool);
  const own = join(folder, "node_modules/ledge");
  if (!existsSync(own)) {
    const [, vitest] = testedVersions.vitest;
    const packages = { [pool.name]: pool.version, wrangler: pool.wrangler };
    install(
      folder,
      { ...packages, vitest, "@vitest/runner": vitest, "@vitest/snapshot": vitest },
      tarball,
    );
  }
  rmSync(own, { recursive: true });
  mkdirSync(own);
  execFileSync("tar", ["-xzf", tarball, "-C", own, "--strip-components=1"]);
}

/** Writes the files of the suites as they are in the commit, with the name of this pool. */
function checkOut(repository: ForeignRepository, pool: Pool): void {
  const folder = repositoryFolder(repository, pool);
  mkdirSync(folder, { recursive: true });
  const { commit, suites, paths = suites.map((suite) => suite.folder) } = repository;
  const archive = join(poolFolder(pool), "archive.tar");
  execFileSync("git", ["-C", cloneOf(repository), "archive", "-o", archive, commit, ...paths]);
  execFileSync("tar", ["-xf", archive, "-C", folder]);
  for (const path of globSync("**/*.{ts,mts}", { cwd: folder, exclude: ["node_modules"] })) {
    const file = join(folder, path);
    const text = readFileSync(file, "utf8");
    const edited = withPool(text, pool.name);
    if (edited !== text) writeFileSync(file, edited);
  }
  for (const { folder: path, built = [] } of suites) {
    for (const file of built) {
      mkdirSync(dirname(join(folder, path, file)), { recursive: true });
      writeFileSync(join(folder, path, file), "<title>Built</title>");
    }
  }
  if (existsSync(join(folder, "node_modules"))) return;
  const manifest = { private: true, type: "module", dependencies: repository.packages };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  // The tools are those of the pool's folder.
  npmInstall(folder, "--legacy-peer-deps", "--install-links", "--ignore-scripts");
}

/** @returns a folder of git */
function cloneOf({ name }: ForeignRepository): string {
  const given = join(values.from ?? work, name.replace("/", "+"));
  if (values.from !== undefined)
    return existsSync(join(given, "repo")) ? join(given, "repo") : given;
  if (!existsSync(given)) {
    const url = `https://github.com/${name}.git`;
    execFileSync("git", ["clone", "-q", "--bare", "--filter=blob:none", url, given]);
  }
  return given;
}

async function trySuite(
  repository: ForeignRepository,
  suite: ForeignSuite,
  name: string,
  pool: Pool,
): Promise<string[]> {
  const folder = join(repositoryFolder(repository, pool), suite.folder);
  const stock = await runTests(folder, suite, `${name} stock`, pool);
  const config = join(
    folder,
    suite.config ?? globSync("vitest.config.*", { cwd: folder })[0] ?? "",
  );
  const text = readFileSync(config, "utf8");
  const edited = withLedge(text);
  if (edited === null) throw new Error(`${config} does not import the pool's plugin.`);
  writeFileSync(config, edited);
  const ours = await runTests(folder, suite, `${name} Ledge`, pool);
  writeFileSync(config, text);
  const differences = compareResults(stock, ours);
  const remarks = differences.map((difference) => remarkOf(name, difference));
  for (const gone of goneDifferences(name, differences)) remarks.push(gone);
  const cells = [stock, ours].map(({ passed, failed, seconds }) =>
    [
      `${passed} passed`,
      ...(failed > 0 ? [`${failed} failed`] : []),
      `${seconds.toFixed(0)} s`,
    ].join(", "),
  );
  const count = String(stock.statuses.size);
  return [name, pool.version, count, ...cells, [...new Set(remarks)].join("; ")];
}

function remarkOf(suite: string, { test, stock, ours, message }: Difference): string {
  const known = knownDifferences.find(
    (difference) => difference.suite === suite && test.includes(difference.test),
  );
  if (known !== undefined) return known.reason;
  isUnexpected = true;
  console.log(`\n${suite}: ${test}\n  stock: ${stock}, Ledge: ${ours}\n${message}`);
  return `**${test}: ${ours}, not ${stock}**`;
}

/** A list with entries that are no longer true hides the next difference. */
function goneDifferences(suite: string, differences: readonly Difference[]): string[] {
  const gone = knownDifferences.filter(
    (known) => known.suite === suite && !differences.some(({ test }) => test.includes(known.test)),
  );
  if (gone.length > 0) isUnexpected = true;
  return gone.map(({ test }) => `**no longer differs: ${test}**`);
}

async function runTests(
  folder: string,
  { config }: ForeignSuite,
  title: string,
  pool: Pool,
): Promise<SuiteResults> {
  const report = join(poolFolder(pool), "report.json");
  rmSync(report, { force: true });
  // A busy machine would fail tests by their time.
  const limits = ["--testTimeout=60000", "--hookTimeout=60000"];
  const args = [
    "run",
    ...limits,
    "--reporter=default",
    "--reporter=json",
    `--outputFile.json=${report}`,
  ];
  const vitest = join(poolFolder(pool), "node_modules/vitest/vitest.mjs");
  const path = [
    join(poolFolder(pool), "node_modules/.bin"),
    dirname(process.execPath),
    ...(process.env["PATH"] ?? "")
      .split(delimiter)
      .filter((each) => !each.includes("node_modules")),
  ].join(delimiter);
  const began = performance.now();
  const program = new Program(
    process.execPath,
    [vitest, ...args, ...(config === undefined ? [] : ["--config", config])],
    folder,
    { PATH: path, TZ: "UTC" },
  );
  const error = await program.end().then(
    () => null,
    (failure: Error) => failure.message,
  );
  // The global set-up of a suite can leave a process that watches files.
  program.kill();
  const seconds = (performance.now() - began) / 1000;
  const log = join(poolFolder(pool), `${title}.log`);
  writeFileSync(log, program.output);
  const text = existsSync(report) ? readFileSync(report, "utf8") : null;
  const results = readResults(text, folder, error, seconds);
  console.log(
    `${pool.version} ${title}: ${results.passed} passed, ${results.failed} failed, ${seconds.toFixed(0)} s`,
  );
  return results;
}
