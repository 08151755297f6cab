/** docs/testing-dns.md: the program runs, and the tables list every kind and every field. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { parseFaultSpec } from "../../src/config/fault-spec.ts";
import { queryFaultKinds } from "../../src/dns/fault/query-fault.ts";
import { DnsFaults } from "../../src/testing/dns-zones.ts";
import { write } from "../support/dev-process.ts";
import { temporaryFolder } from "../support/store.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(join(root, "docs/testing-dns.md"), "utf8");

function blocks(language: string): string[] {
  const pattern = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, "gm");
  return Array.from(page.matchAll(pattern), ([, code]) => code!);
}

it("docs/testing-dns.md shows a program with a failover, an ACME client and a resolver", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(root, join(folder, "node_modules/ledge"), "dir");
  write(join(folder, "program.mjs"), blocks("js").join("\n"));
  write(join(folder, "wrangler.json"), JSON.parse(blocks("json")[0]!));
  const printed = execFileSync(process.execPath, ["program.mjs"], {
    cwd: folder,
    encoding: "utf8",
    timeout: 170_000,
  });
  expect(printed.trim().split("\n")).toEqual([
    "failover: the second name server answered",
    "ACME: the challenge was at the first name server before the second",
    "resolver: UDP, then TCP",
  ]);
});

it("docs/testing-dns.md lists every kind of fault with its method", () => {
  const rows = Array.from(page.matchAll(/^\| `(\w+)` +\| `(\w+)\(.*?\)` /gm), ([, ...row]) => row);
  expect(rows.map(([kind]) => kind)).toEqual(queryFaultKinds);
  const faults = new DnsFaults(() => expect.unreachable());
  for (const [, method] of rows) expect(faults).toHaveProperty(method!);
});

it("docs/testing-dns.md shows faults that the command line takes", () => {
  const specs = Array.from(page.matchAll(/--fault (\S+?)(?=[\s`])/g), ([, spec]) => spec!);
  expect(specs.length).toBeGreaterThan(2);
  for (const spec of specs) expect(parseFaultSpec(spec).subject).toBe("dns");
});
