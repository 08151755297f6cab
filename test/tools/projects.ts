/**
 * Run after a build. Takes real projects, as a new user would: installs the packed package, runs the
 * dev server with `--adopt`, edits the project with `ledge init`, and runs its compiler, its tests and
 * its deploy. Needs Node 24 and the registry of npm.
 *
 *     npx node test/tools/projects.ts                  clones the projects from GitHub
 *     npx node test/tools/projects.ts render           only this project
 *     npx node test/tools/projects.ts --from FOLDER    takes FOLDER/owner+name, a clone or its parent
 *     npx node test/tools/projects.ts --keep           keeps the folders
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { compareVersions } from "../../src/base/package-version.ts";
import { testedVersions } from "../../src/base/tested-versions.ts";
import { findPackageManager } from "../../src/cli/init/packages.ts";
import { Program } from "./support/matrix/program.ts";
import { projects, type RealProject } from "./support/real-projects.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { from: { type: "string" }, keep: { type: "boolean", default: false } },
});
const nameOf = ({ repository }: RealProject): string => repository.replace(/^.*\//, "");
const chosen = projects.filter(
  (project) => positionals.length === 0 || positionals.includes(nameOf(project)),
);
if (chosen.length === 0) {
  throw new Error(`No project has that name: ${projects.map(nameOf).join(", ")}`);
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const work = mkdtempSync(join(tmpdir(), "ledge-projects-"));
if (values.keep) console.log(`The projects are in ${work}.`);
else process.once("exit", () => rmSync(work, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
const archive = execFileSync("npm", ["pack", "--silent", "--pack-destination", work], {
  cwd: root,
  encoding: "utf8",
}).trim();

const columns = ["install", "tests", "adopt", "init", "types", "tests after", "serve", "deploy"];
const rows: string[][] = [];
for (const project of chosen) rows.push([nameOf(project), ...(await tryProject(project))]);
const table = [["project", ...columns], columns.map(() => "---").concat("---"), ...rows];
console.log(`\n${table.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}`);
process.exitCode = rows.flat().includes("failed") ? 1 : 0;

/** @returns the outcome of each column */
async function tryProject(project: RealProject): Promise<string[]> {
  console.log(`\n# ${project.repository}`);
  const top = checkOut(project);
  const folder = join(top, project.folder ?? ".");
  project.prepare?.(folder);
  const outcomes: Record<string, string> = {};
  const step = async (column: string, action: () => Promise<string | undefined>): Promise<void> => {
    const began = performance.now();
    try {
      const remark = await action();
      const seconds = ((performance.now() - began) / 1000).toFixed(0);
      outcomes[column] = `${remark === undefined ? "" : `${remark}, `}${seconds} s`;
    } catch (error) {
      console.log((error as Error).message);
      outcomes[column] = "failed";
    }
    console.log(`${column}: ${outcomes[column]}`);
  };
  const shell = (command: string, cwd = folder): Promise<string> =>
    new Program("sh", ["-c", withPrograms(cwd, command)], cwd).end();
  const test = async (): Promise<string> => passedTests(await shell(project.tests as string));
  const manager = managerOf(top);

  await step("install", async () => {
    try {
      await shell(`${manager} install`, top);
      return undefined;
    } catch {
      // Not every registry has each version of a lock file.
      await shell(`rm *lock* && ${manager} install`, top);
      return "without its lock file";
    }
  });
  if (project.tests !== undefined) await step("tests", test);
  await step("adopt", async () => {
    await shell(`${manager} add -D ${project.addOptions ?? ""} ${join(work, archive)}`, top);
    const old = oldWrangler(folder);
    // A version that is too old fails with the command that updates it.
    if (old !== null) {
      await shell(
        `${manager} add -D ${project.addOptions ?? ""} wrangler@${testedVersions.wrangler[1]}`,
        top,
      );
    }
    // Vite serves such a project, after `ledge init` has edited its configuration.
    if (!project.isVite) await serve(folder, project, ["dev", "--adopt"]);
    return old === null ? undefined : `wrangler was ${old}`;
  });
  await step("init", async () => {
    console.log(await shell("ledge init --yes", top));
    await shell(`${manager} install`, top);
    const again = await shell("ledge init --yes", top);
    if (!again.includes("Nothing to do")) throw new Error(`A second run has edits:\n${again}`);
    return undefined;
  });
  await step("types", () => shell(project.types).then(() => undefined));
  if (project.tests !== undefined) await step("tests after", test);
  await step("serve", () => serve(folder, project, project.isVite ? null : ["dev"]));
  await step("deploy", async () => {
    const output = await shell(project.deploy);
    if (!project.deployed.test(output)) throw new Error(`The deploy lacks the bucket:\n${output}`);
    return undefined;
  });
  return columns.map((column) => outcomes[column] ?? "");
}

function git(...args: string[]): void {
  execFileSync("git", args, { stdio: ["ignore", "ignore", "inherit"] });
}

function checkOut({ repository, commit }: RealProject): string {
  const folder = join(work, repository.replace("/", "+"));
  const given = join(values.from ?? "", repository.replace("/", "+"));
  const clone = existsSync(join(given, "repo")) ? join(given, "repo") : given;
  git("clone", "-q", values.from ? clone : `https://github.com/${repository}.git`, folder);
  git("-C", folder, "checkout", "-q", commit);
  return folder;
}

/** The project's package manager in the version that the project names. */
function managerOf(folder: string): string {
  const { packageManager = "" } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  ) as { packageManager?: string };
  const { name } = findPackageManager(folder);
  const [version = name] = packageManager.split("+");
  return name === "npm" ? name : `npx --yes ${version === "" ? `${name}@10` : version}`;
}

/** The programs of the project and of the folders above it are in the path, and ours are not. */
function withPrograms(folder: string, command: string): string {
  const others = (process.env["PATH"] ?? "").split(delimiter);
  const own: string[] = [];
  for (let each = folder; each !== work; each = dirname(each)) {
    own.push(join(each, "node_modules/.bin"));
  }
  const path = [
    ...own,
    dirname(process.execPath),
    ...others.filter((each) => !each.includes("node_modules")),
  ];
  return `export PATH="${path.join(delimiter)}"; ${command}`;
}

/** The version of wrangler, if Ledge refuses it. */
function oldWrangler(folder: string): string | null {
  const command = withPrograms(folder, "wrangler --version");
  const version = execFileSync("sh", ["-c", command], { cwd: folder, encoding: "utf8" }).trim();
  return compareVersions(version, testedVersions.wrangler[0]) < 0 ? version : null;
}

/** Starts the dev server, and uses the bucket. */
async function serve(
  folder: string,
  { environment = [], use }: RealProject,
  args: readonly string[] | null,
): Promise<undefined> {
  const command =
    args === null
      ? "vite dev --port 0"
      : `ledge ${[...args, ...environment].join(" ")} --port 0 --no-explorer --no-s3`;
  const server = new Program("sh", ["-c", withPrograms(folder, command)], folder);
  try {
    const url = await server.waitFor(/(?:^Ready|Local:) +(http:\/\/[\w.:]+)/m);
    await use(url, (line) => new Program("sh", ["-c", withPrograms(folder, line)], folder).end());
    return undefined;
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${server.output}`, { cause: error });
  } finally {
    await server.interrupt();
  }
}

function passedTests(output: string): string {
  return /Tests +(\d+ passed(?: \(\d+\))?)/.exec(output)?.[1] ?? "no tests";
}
