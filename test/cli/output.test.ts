/** What commands print, and where: help, pipes that close, colours and progress on a terminal. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import type { StoreBucket } from "../../src/types/store.ts";
import { bytesOf, sameBytes } from "../support/bytes.ts";
import { runInProcess } from "../support/in-process-command.ts";
import { StoreProject } from "../support/store-command.ts";
import { hasTerminal, TerminalCommand } from "../support/terminal.ts";

const program = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const { version } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as { version: string };

function ledge(...words: string[]) {
  return spawnSync(process.execPath, [program, ...words], { encoding: "utf8" });
}

describe("ledge", () => {
  it.each(["--version", "-v"])("%s prints the version", (word) => {
    expect(ledge(word)).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: "" });
  });

  it("help prints the help of all and of each command", async () => {
    const { out: all } = await runInProcess(tmpdir(), ["--help"]);
    expect(ledge("help")).toMatchObject({ status: 0, stdout: all, stderr: "" });
    const { out } = await runInProcess(tmpdir(), ["store", "put", "--help"]);
    const again = await runInProcess(tmpdir(), ["help", "store", "put"]);
    expect(again).toMatchObject({ code: 0, out });
    expect(ledge("help", "store", "pot")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('There is no command "pot". Did you mean "put"?') as string,
    });
  });
});

it("ledge store ends quietly when the reader of its pipe ends first", async () => {
  const here = new StoreProject();
  await here.serve();
  // Two pages of a listing, and more than a pipe holds.
  for (let n = 0; n < 1500; n++) here.write(`files/${n}-${"x".repeat(100)}`, "x");
  here.write("files/large", bytesOf(2_000_000));
  expect(await here.store("import", "photos", "files")).toMatchObject({ code: 0 });
  for (const words of ["list photos", "list photos --json", "get photos/large -"]) {
    const command = `"${process.execPath}" "${program}" store ${words}`;
    const script = `${command} | head -c 1; echo " \${PIPESTATUS[0]}"`;
    const { stdout, stderr } = spawnSync("bash", ["-c", script], { cwd: here.folder });
    expect([words, stdout.subarray(1).toString(), stderr.toString()]).toEqual([words, " 0\n", ""]);
  }
});

describe.runIf(hasTerminal)("ledge on a terminal", () => {
  const command = `"${process.execPath}" "${program}"`;
  const large = 300_000_000;

  it("shows the progress of put and get, and an interrupt removes the partial file", async () => {
    const here = new StoreProject();
    await here.serve();
    here.write("large.bin", Buffer.alloc(large, "ledge"));
    const put = new TerminalCommand(`${command} store put photos/large.bin large.bin`, here.folder);
    expect(await put.exited).toBe(0);
    expect(put.output).toMatch(/large\.bin █*░+ \d+% {2}\d+\.\d MiB of 286\.1 MiB/);
    // The last line is the result alone: the progress is erased.
    expect(put.output).toContain("\r\u001b[Kphotos/large.bin: 286.1 MiB, etag ");

    const get = new TerminalCommand(`${command} store get photos/large.bin copy.bin`, here.folder);
    await get.waitForOutput(/copy\.bin █*░* \d+% {2}/);
    expect(await get.exited).toBe(0);
    expect(
      sameBytes(readFileSync(here.path("copy.bin")), readFileSync(here.path("large.bin"))),
    ).toBe(true);
    rmSync(here.path("copy.bin"));

    // A command that has ended before the signal, or before the test has seen the file, is started again.
    let code: number | null = 0;
    while (code === 0) {
      const stopped = here.start("get", "photos/large.bin", "copy.bin");
      const isUnderWay = () => partialFiles(here).length === 1 || stopped.child.exitCode !== null;
      await expect.poll(isUnderWay, { timeout: 60_000, interval: 1 }).toBe(true);
      stopped.child.kill("SIGINT");
      ({ code } = await stopped.end());
    }
    expect(code).toBe(130);
    expect(partialFiles(here)).toEqual([]);
  });

  it("escapes control characters of keys and metadata, which a pipe gets as they are", async () => {
    const here = new StoreProject();
    const miniflare = await here.serve();
    const { BUCKET } = await miniflare.getBindings<{ BUCKET: StoreBucket }>();
    const key = "a\nb\u001b[2J\u009b";
    await BUCKET.put(key, "x", { customMetadata: { name: "\u0007" } });
    expect((await here.start("list", "photos").end()).text).toContain(key);

    const onTerminal = async (words: string): Promise<string> => {
      const shown = new TerminalCommand(`${command} store ${words}`, here.folder);
      await shown.exited;
      return shown.output;
    };
    expect(await onTerminal("ls photos")).toContain("a\\nb\\u001b[2J\\u009b");
    const listed = await onTerminal("list photos --json");
    expect(JSON.parse(listed)).toMatchObject({ key });
    const quoted = `'photos/${key}'`;
    for (const words of [
      "list photos --json",
      `head ${quoted}`,
      `get ${quoted}`,
      `get ${quoted}x`,
    ]) {
      const output = await onTerminal(words);
      expect(output).toContain("a\\nb\\u001b");
      // oxlint-disable-next-line no-control-regex -- control characters are intended
      expect(output).not.toMatch(/[\u0007\u009b]|\u001b\[2J/);
    }
  });

  it("ends a question at Ctrl-C with exit code 130, and at the end of the input with no", async () => {
    const { folder } = new StoreProject();
    for (const [key, code, said] of [
      ["\u0003", 130, /\? \[y\/N\] /],
      ["\u0004", 1, /Nothing was deleted\./],
      ["n\n", 1, /Nothing was deleted\./],
      ["y\n", 0, /photos: deleted 0 objects/],
    ] as const) {
      const asked = new TerminalCommand(`${command} store reset photos`, folder);
      await asked.waitForOutput(/Delete everything in "photos"\? \[y\/N\] /);
      asked.type(key);
      expect([key, await asked.exited]).toEqual([key, code]);
      expect(asked.output).toMatch(said);
    }
  });

  it("colours headings and errors, unless NO_COLOR says no", async () => {
    const { folder } = new StoreProject();
    const help = new TerminalCommand(`${command} help`, folder);
    await help.exited;
    expect(help.output).toContain("\u001b[1mUsage:\u001b[22m");
    const error = new TerminalCommand(`${command} stor`, folder);
    await error.exited;
    expect(error.output).toContain('\u001b[31mThere is no command "stor".');
    const plain = new TerminalCommand(`${command} stor`, folder, { NO_COLOR: "1" });
    await plain.exited;
    expect(plain.output).toBe(stripVTControlCharacters(plain.output));
  });
});

it("ledge in a pipe has no colours, unless FORCE_COLOR asks for them", () => {
  expect(errorsIn({})).toBe(stripVTControlCharacters(errorsIn({})));
  expect(errorsIn({ FORCE_COLOR: "1" })).toContain("\u001b[31m");
});

function errorsIn(environment: Record<string, string>): string {
  const env = { PATH: process.env["PATH"], ...environment };
  return spawnSync(process.execPath, [program, "stor"], { encoding: "utf8", env }).stderr;
}

function partialFiles({ folder }: StoreProject): string[] {
  return readdirSync(folder).filter((name) => name.startsWith(".ledge-partial-"));
}
