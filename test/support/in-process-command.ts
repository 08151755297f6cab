/**
 * `ledge …` in the test's process, for tests of output and exit codes: the start of a process takes
 * longer than most commands. Tests of owners, signals, standard input and exits start processes.
 */
import { createRequire } from "node:module";
import { vi } from "vitest";
import { root } from "../../src/cli/root.ts";
import { runCommand } from "../../src/cli/run.ts";
import { DnsProject, type Ran } from "./dns-command.ts";
import { StoreProject, type Ended } from "./store-command.ts";

// The bundler always starts in the working folder that it was loaded in. Loaded by a command in the
// folder of a test, the bundler could not start after that test has removed the folder.
createRequire(import.meta.resolve("wrangler"))("esbuild");

let previous: Promise<unknown> = Promise.resolve();

/** Commands run one at a time, because they use the process's working folder and streams. */
export function runInProcess(folder: string, words: readonly string[]): Promise<Ran> {
  const ran = previous.then(() => runAlone(folder, words));
  previous = ran.catch(() => {});
  return ran;
}

async function runAlone(folder: string, words: readonly string[]): Promise<Ran> {
  const before = process.cwd();
  const out = capture(process.stdout);
  const error = capture(process.stderr);
  process.chdir(folder);
  try {
    const code = await runCommand(root, words, {
      out: (text) => void process.stdout.write(`${text}\n`),
      error: (text) => void process.stderr.write(`${text}\n`),
    });
    return { code, out: out.text, error: error.text };
  } finally {
    process.chdir(before);
    out.end();
    error.end();
  }
}

/** Collects what is written to a stream, instead of the stream. */
function capture(stream: NodeJS.WriteStream): { readonly text: string; end(): void } {
  let text = "";
  const spy = vi.spyOn(stream, "write").mockImplementation((chunk) => {
    text += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
    return true;
  });
  return {
    get text() {
      return text;
    },
    end: () => spy.mockRestore(),
  };
}

/** A folder whose zones a server in the test's process has, and commands that run in that process. */
export class ServedDnsProject extends DnsProject {
  override run(...words: string[]): Promise<Ran> {
    return runInProcess(this.folder, ["dns", ...words]);
  }
}

/** A project whose buckets a runtime has, and commands that run in the test's process. */
export class ServedStoreProject extends StoreProject {
  override async store(...words: string[]): Promise<Ended> {
    const { code, out, error } = await runInProcess(this.folder, ["store", ...words]);
    return { code, output: Buffer.from(out), text: out, errors: error };
  }
}
