/** The entries of the package on a Node that is too old, where the machine has one. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The first Node 20 or older among the folders of PATH. */
function findOldNode(): { path: string; version: string } | null {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const path = join(folder, "node");
    if (!existsSync(path)) continue;
    const version = spawnSync(path, ["--version"], { encoding: "utf8" }).stdout.trim().slice(1);
    if (Number.parseInt(version) <= 20) return { path, version };
  }
  return null;
}

const old = findOldNode();
if (old === null) console.log("The tests of an old Node are skipped: PATH has no Node 20.");

describe.skipIf(old === null)("on Node 20", () => {
  const sentence =
    `Ledge needs Node 22.13 or later, and this is Node ${old?.version}. ` +
    "Install a newer Node: https://nodejs.org";
  const run = (...args: string[]) =>
    spawnSync(old?.path as string, args, { cwd: root, encoding: "utf8" });

  it("the command says one sentence", () => {
    const { status, stdout, stderr } = run("dist/cli.js", "--help");
    expect({ status, stdout, stderr }).toEqual({ status: 1, stdout: "", stderr: `${sentence}\n` });
  });

  it.each(["ledge", "ledge/plugin", "ledge/vitest"])("an import of %s says the same", (entry) => {
    const program = `import(${JSON.stringify(entry)}).catch(({ message }) => console.log(message))`;
    const { stdout, stderr } = run("--input-type=module", "--eval", program);
    expect({ stdout, stderr }).toEqual({ stdout: `${sentence}\n`, stderr: "" });
  });
});
