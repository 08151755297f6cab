/**
 * `ledge …` of the build in the test's process, for tests of output and exit codes: the start of a process takes
 * longer than most commands. Tests of owners, signals, pipes, terminals and exits start processes.
 */
import { Console } from "node:console";
import { createRequire } from "node:module";
import { Readable } from "node:stream";
import { expect, vi } from "vitest";
import type * as Commands from "../../src/cli/root.ts";

// The build has the types of the package's exports only.
const { runLedge } = (await import(
  new URL("../../dist/commands.js", import.meta.url).href
)) as typeof Commands;

// The bundler always starts in the working folder that it was loaded in. Loaded by a command in the
// folder of a test, the bundler could not start after that test has removed the folder.
createRequire(import.meta.resolve("wrangler"))("esbuild");

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

export async function runInProcess(folder: string, words: readonly string[]): Promise<Ran> {
  const { code, out, error } = await runForBytes(folder, words);
  return { code, out: out.toString(), error };
}

let previous: Promise<unknown> = Promise.resolve();

/** Commands run one at a time, because they use the process's working folder and streams. */
export function runForBytes(
  folder: string,
  words: readonly string[],
): Promise<{ code: number; out: Buffer; error: string }> {
  const ran = previous.then(() => runAlone(folder, words));
  previous = ran.catch(() => {});
  return ran;
}

async function runAlone(folder: string, words: readonly string[]) {
  const before = process.cwd();
  const kept = stateOfProcess();
  // That of vitest writes elsewhere, and `ledge dev` changes its methods so that they remove colours.
  const methods = { ...console };
  const input = vi.spyOn(process, "stdin", "get");
  // The type is that of a terminal. Commands read the input as a stream.
  input.mockReturnValue(Readable.from([]) as typeof process.stdin);
  const out = capture(process.stdout);
  const error = capture(process.stderr);
  Object.assign(console, new Console(process.stdout, process.stderr));
  process.chdir(folder);
  try {
    const code = await runLedge(words);
    expect(stateOfProcess()).toEqual(kept);
    return { code, out: out.bytes, error: error.bytes.toString() };
  } finally {
    process.chdir(before);
    out.end();
    error.end();
    input.mockRestore();
    Object.assign(console, methods);
  }
}

/** What a command must leave as the command has found it: the next test runs in the same process. */
function stateOfProcess(): unknown {
  const signals = ["SIGHUP", "SIGINT", "SIGTERM"];
  return {
    exitCode: process.exitCode,
    environment: { ...process.env },
    listeners: signals.map((signal) => process.listenerCount(signal)),
  };
}

/** Collects what is written to a stream, instead of the stream. */
function capture(stream: NodeJS.WriteStream): { readonly bytes: Buffer; end(): void } {
  const chunks: Buffer[] = [];
  const spy = vi.spyOn(stream, "write").mockImplementation((chunk, encoding, callback) => {
    // The caller may use the memory again after the callback.
    chunks.push(Buffer.from(chunk));
    const done = typeof encoding === "function" ? encoding : callback;
    if (done !== undefined) process.nextTick(done, null);
    return true;
  });
  return {
    get bytes() {
      return Buffer.concat(chunks);
    },
    end: () => spy.mockRestore(),
  };
}
