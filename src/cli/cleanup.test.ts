import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";

const module = new URL("./cleanup.ts", import.meta.url).href;

/** A process that has a temporary file and waits. It says "cleaned" when its cleanup has run. */
const program = `
  import { withCleanup, withTemporaryPath } from ${JSON.stringify(module)};
  await withCleanup(
    () => withTemporaryPath(process.argv[1], () => {
      console.log("ready");
      return new Promise((resolve) => setTimeout(resolve, 60_000));
    }),
    async () => console.log("cleaned"),
  );`;

describe("withCleanup() and withTemporaryPath()", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("clean up after %s, and end with %i", async (signal, code) => {
    const folder = mkdtempSync(join(tmpdir(), "ledge-unit-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, "partial");
    writeFileSync(path, "half");
    const child = spawn(process.execPath, ["--input-type=module", "-e", program, path]);
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    while (!output.includes("ready")) await once(child.stdout, "data");
    child.kill(signal);
    const [ended] = (await once(child, "close")) as [number];
    expect({ ended, output, exists: existsSync(path) }).toEqual({
      ended: code,
      output: "ready\ncleaned\n",
      exists: false,
    });
  });
});
