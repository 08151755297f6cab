/**
 * `npm run test:long -- faults --mutations`: shows that each suite can fail. Runs the suites in a copy of
 * the project, first as they are, then once for each mutation with the changed code.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { mutations, type Mutation } from "./mutations.ts";

/** @returns a copy of the files that Git knows, with the modules of the original */
function copyProject(root: string): string {
  const copy = mkdtempSync(join(tmpdir(), "ledge-mutations-"));
  const listed = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" });
  for (const path of listed.split("\0").filter(Boolean)) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(root, path), join(copy, path));
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

function run(
  folder: string,
  program: string,
  ...words: string[]
): { isGreen: boolean; output: string } {
  const path = join(folder, "node_modules", program);
  const { status, stdout, stderr } = spawnSync(process.execPath, [path, ...words], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 2 ** 30,
  });
  return { isGreen: status === 0, output: `${stdout}\n${stderr}` };
}

function build(folder: string): void {
  const { isGreen, output } = run(folder, "tsdown/dist/run.mjs");
  if (!isGreen) throw new Error(`The mutated project cannot be built:\n${output}`);
}

/** The suites are in all three tiers. */
const projects = ["integration", "more", "power"].map((name) => `--project=${name}`);

function runSuites(folder: string, suites: readonly string[]) {
  const files = suites.map((suite) => `test/faults/${suite}.test.ts`);
  return run(folder, "vitest/vitest.mjs", "run", ...projects, "--bail=1", ...files);
}

function mutate(folder: string, { file, original, replacement }: Mutation): () => void {
  const path = join(folder, file);
  const text = readFileSync(path, "utf8");
  if (text.split(original).length !== 2)
    throw new Error(`${file} does not contain once: ${original}`);
  writeFileSync(
    path,
    text.replace(original, () => replacement),
  );
  return () => writeFileSync(path, text);
}

/** @returns whether every suite is green without its mutations, and red with each of them */
export function runMutations(root: string, only: string | undefined): boolean {
  const selected = mutations.filter(({ suite }) => only === undefined || suite.includes(only));
  const copy = copyProject(root);
  try {
    build(copy);
    const suites = [...new Set(selected.map(({ suite }) => suite))];
    console.log(`Running ${suites.join(", ")} without a mutation.`);
    const unchanged = runSuites(copy, suites);
    if (!unchanged.isGreen) {
      console.log(`${unchanged.output}\nThe suites fail without a mutation.`);
      return false;
    }
    let areAllRed = true;
    for (const mutation of selected) {
      const restore = mutate(copy, mutation);
      build(copy);
      const { isGreen } = runSuites(copy, [mutation.suite]);
      restore();
      console.log(`${isGreen ? "GREEN" : "red  "}  ${mutation.suite}: ${mutation.effect}`);
      areAllRed &&= !isGreen;
    }
    return areAllRed;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
