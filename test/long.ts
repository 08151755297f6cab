/**
 * `npm run test:long`: what takes long or installs programs, one part after the other.
 *
 *     npm run test:long                        every part: before a release
 *     npm run test:long -- browser peers       these parts
 *     npm run test:long -- faults --seed 17    one part with options of its own
 *
 * The table in CONTRIBUTING.md says which part belongs to which change.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

type Command = readonly [program: string, ...args: string[]];

interface Part {
  readonly about: string;
  /** Installs what the part needs from Debian. A part whose installation fails has failed. */
  readonly install?: string;
  readonly command: Command;
  /** The options of the command when the caller gives none: the command runs once with each list. */
  readonly options?: readonly (readonly string[])[];
  readonly environment?: Readonly<Record<string, string>>;
}

const node = (...args: string[]): Command => [process.execPath, ...args];
const vitest = (...args: string[]): Command =>
  node(join(root, "node_modules/vitest/vitest.mjs"), "run", ...args);

const parts: Readonly<Record<string, Part>> = {
  tools: {
    about: "the package in projects of wrangler, Vite and the vitest pool",
    command: vitest("--project", "tools"),
  },
  matrix: {
    about:
      "the packed package with the newest tested tools, then with what npm has since; the latter only reports",
    command: node("test/tools/matrix.ts"),
    options: [["--newest"], ["--nightly"]],
  },
  browser: {
    about: "the explorer, names and Playwright in Chromium",
    install: "test/browser/install.sh",
    command: vitest("--project", "browser"),
  },
  peers: {
    about: "DNS beside BIND, Knot and NSD; S3 by other clients",
    install: "test/peers/install.sh",
    command: vitest("--project", "peers"),
  },
  ceph: {
    about: "buckets on Ceph",
    install: "test/peers/install.sh",
    command: vitest("--project", "ceph"),
  },
  faults: {
    about: "the fault suite in its long form, with the loss of power, and its figures",
    command: node("test/faults/run.ts"),
    options: [["--long"]],
  },
  numbers: {
    about:
      "`npm test` and `npm run test:more` with more cases of properties and fuzzers, and larger values",
    command: vitest("--project", "unit", "--project", "integration", "--project", "more"),
    environment: { LEDGE_ROUNDS: "3000", LEDGE_FUZZ_PACKETS: "300000" },
  },
};

/** @returns whether the part has passed */
function runPart(name: string, options: readonly string[]): boolean {
  const { about, install, command, options: defaults = [[]], environment } = parts[name] as Part;
  console.log(`\n${name}: ${about}`);
  if (install !== undefined && !run([join(root, install)])) return false;
  const runs = options.length > 0 ? [options] : defaults;
  return runs.every((each) => run([...command, ...each], environment));
}

function run([program, ...args]: Command, environment: Part["environment"] = {}): boolean {
  const env = { ...process.env, ...environment };
  return spawnSync(program, args, { cwd: root, stdio: "inherit", env }).status === 0;
}

function main(words: readonly string[]): number {
  const end = words.findIndex((word) => word.startsWith("-"));
  const names = end === -1 ? words : words.slice(0, end);
  const options = end === -1 ? [] : words.slice(end);
  const unknown = names.filter((name) => !(name in parts));
  if (unknown.length > 0 || (options.length > 0 && names.length !== 1)) {
    console.error(
      unknown.length > 0
        ? `There is no part ${unknown.join(", ")}. The parts:`
        : "Options belong to one part: name the part before them. The parts:",
    );
    for (const [name, { about }] of Object.entries(parts)) {
      console.error(`  ${name.padEnd(9)}${about}`);
    }
    return 2;
  }
  const failed = (names.length > 0 ? names : Object.keys(parts)).filter(
    (name) => !runPart(name, options),
  );
  console.log(failed.length === 0 ? "\nAll parts passed." : `\nFailed: ${failed.join(", ")}.`);
  return failed.length === 0 ? 0 : 1;
}

process.exitCode = main(process.argv.slice(2));
