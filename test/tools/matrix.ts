/**
 * Run after a build. Installs the packed package in new projects, with the oldest and the newest
 * versions of wrangler, the vitest pool and the Vite plugin, and runs the tools on it.
 *
 *     npx node test/tools/matrix.ts                everything; writes the table in docs/stock-tools.md
 *     npx node test/tools/matrix.ts --newest       only the newest tested version of each tool
 *     npx node test/tools/matrix.ts --nightly      only what npm calls latest, if that is newer than what
 *                                                  was tested; reports, and never fails
 *     npx node test/tools/matrix.ts "pool 0.23"    only these columns or rows of the table
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { mapConcurrent } from "../../src/base/concurrency.ts";
import { checks, type CheckName } from "./support/matrix/checks.ts";
import {
  install,
  installedVersions,
  installNode,
  latestVersion,
  NotAvailable,
} from "./support/matrix/installation.ts";
import { laterTools, newestTested, trialsWith, type Trial } from "./support/matrix/plan.ts";
import {
  packages,
  renderTable,
  withTable,
  withVersions,
  type TrialResult,
} from "./support/matrix/table.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = join(root, "docs/stock-tools.md");
const versionsModule = join(root, "src/base/tested-versions.ts");

const args = process.argv.slice(2);
const isNightly = args.includes("--nightly");
const trials = trialsWith(args.includes("--newest") ? newestTested : latestVersion);
const chosen = chooseTrials();
if (isNightly) {
  const later = laterTools(latestVersion);
  if (later.length === 0) {
    console.log("Ledge was tested with the latest version of every tool.");
    process.exit();
  }
  console.log(`npm has versions that Ledge was not tested with: ${later.join(", ")}.`);
}

const work = mkdtempSync(join(tmpdir(), "ledge-matrix-"));
process.once("exit", () => rmSync(work, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", work], {
  cwd: root,
  encoding: "utf8",
}).trim();

/** Most checks wait for processes to start. */
const concurrency = 2;
/** The folders of installations, by their packages. */
const installed = new Map<string, string>();
const results: TrialResult[] = [];
for (const trial of chosen) results.push(await runTrial(trial));

console.log(`\n${renderTable(results)}`);
const hasFailed = results.some(({ outcomes }) => Object.values(outcomes).includes("failed"));
process.exitCode = hasFailed && !isNightly ? 1 : 0;
if (args.length === 0 && !hasFailed) {
  writeFileSync(page, withTable(readFileSync(page, "utf8"), results));
  const source = readFileSync(versionsModule, "utf8");
  writeFileSync(versionsModule, withVersions(source, readFileSync(page, "utf8")));
  execFileSync("npx", ["oxfmt", "--write", page, versionsModule], { cwd: root });
}

/** The columns and the rows that the arguments name, or all. */
function chooseTrials(): Trial[] {
  const isNewest = args.includes("--newest") || isNightly;
  const columns = trials.filter(
    ({ name }) => args.includes(name) || (isNewest && name === "newest"),
  );
  const rows = (Object.keys(checks) as CheckName[]).filter((name) => args.includes(name));
  const unknown = args.filter(
    (name) =>
      !["--newest", "--nightly", ...rows].includes(name) &&
      !columns.some((column) => column.name === name),
  );
  if (unknown.length > 0)
    throw new Error(`No column and no row has the name ${unknown.join(", ")}.`);
  return (columns.length === 0 ? trials : columns).map((trial) => ({
    ...trial,
    checks: rows.length === 0 ? trial.checks : trial.checks.filter((name) => rows.includes(name)),
  }));
}

async function runTrial(trial: Trial): Promise<TrialResult> {
  console.log(`\n# ${trial.name}`);
  try {
    return await runOn(trial, installOnce(trial.packages));
  } catch (error) {
    if (!(error instanceof NotAvailable)) throw error;
    console.log(error.message);
    const reason = `not available for ${process.platform}-${process.arch}`;
    const outcomes = Object.fromEntries(trial.checks.map((each) => [each, reason]));
    return { name: trial.name, node: "", versions: {}, outcomes };
  }
}

/** @param folder of the installation */
async function runOn({ name, node, checks: names }: Trial, folder: string): Promise<TrialResult> {
  const program = node === null ? process.execPath : installNode(join(work, "nodes", node), node);
  const version = execFileSync(program, ["--version"], { encoding: "utf8" }).trim().slice(1);
  const versions = Object.fromEntries(
    packages.map((each) => [each, installedVersions(folder, each)]),
  );
  console.log(`Node ${version}`, JSON.stringify(versions));
  const outcomes: Record<string, string | null> = Object.fromEntries(
    names.map((each) => [each, null]),
  );
  const queue = Readable.from(names) as AsyncIterable<CheckName>;
  await mapConcurrent(queue, concurrency, async (each) => {
    const began = performance.now();
    await checks[each]({ folder, node: program }).catch((error: Error) => {
      console.log(error.message);
      outcomes[each] = "failed";
    });
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    console.log(`${outcomes[each] ?? "passed"}  ${each} (${seconds} s)`);
  });
  return { name, node: version, versions, outcomes };
}

function installOnce(wanted: Readonly<Record<string, string>>): string {
  const key = JSON.stringify(wanted);
  const folder = installed.get(key) ?? join(work, `project-${installed.size}`);
  if (!installed.has(key)) install(folder, wanted, join(work, packed));
  installed.set(key, folder);
  return folder;
}
