/** What the documentation says is so. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parse } from "jsonc-parser";
import { describe, expect, it } from "vitest";
import {
  defaultSettings,
  httpVersions,
  servedDnsSettings,
  settingNames,
} from "../../src/dns/rules/zone-settings.ts";
import { expectations } from "../store/differential.expectations.ts";
import { remoteDeviations } from "../store/remote.expectations.ts";
import { temporaryFolder } from "../support/store.ts";
import { blocks, linksOf, read, root, section } from "./support/pages.ts";

const pages = ["README.md", "CHANGELOG.md", "docs", "examples"].flatMap((path) =>
  path.endsWith(".md")
    ? [path]
    : readdirSync(join(root, path), { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".md") && !name.includes("node_modules"))
        .map((name) => join(path, name)),
);

describe("README.md", () => {
  it("shows the script of the quick start, and what it prints", () => {
    const example = join(root, "examples/quick-start/start.js");
    const [script] = blocks(read("README.md"), "js") as [string];
    const output = unnamedBlock("README.md");
    expect(readFileSync(example, "utf8")).toContain(script.trim());
    const printed = execFileSync(process.execPath, [example], {
      cwd: temporaryFolder(),
      encoding: "utf8",
    });
    expect(printed).toBe(output);
    expect(unnamedBlock("examples/quick-start/README.md")).toBe(output);
  });

  it("names only scripts that there are", () => {
    const named = pages.flatMap((page) =>
      Array.from(read(page).matchAll(/npm run ([a-z:-]+)/g), ([, name]) => ({ page, name })),
    );
    expect(named.length).toBeGreaterThan(0);
    for (const { page, name } of named) expect(scriptsFor(page)).toContain(name);
  });
});

describe("docs/deviations.md", () => {
  const deviations = read("docs/deviations.md");

  it("lists every expectation of the differential test, with its reason, and no other", () => {
    const rows = section(deviations, "Store: from Miniflare").matchAll(
      /^\| (.+?) +\| (.+?) +\|$/gm,
    );
    const [, , ...listed] = Array.from(rows, (row) => row.slice(1));
    expect(listed).toEqual(expectations.map(({ id, reason }) => [id, reason]));
  });

  it("lists every deviation of a bucket on an S3 service, with its reason, and no other", () => {
    const text = section(deviations, "Store: buckets on an S3 service");
    const rows = text.matchAll(/^\| (.+?) +\| (.+?) +\| (.+?) +\|$/gm);
    const [, , ...listed] = Array.from(rows, (row) => row.slice(1));
    const names = { ledge: "our own API", ceph: "Ceph" };
    expect(listed).toEqual(
      remoteDeviations.map(({ id, reason, services }) => [
        id,
        reason,
        services?.map((service) => names[service]).join(", ") ?? "every service",
      ]),
    );
  });

  it("lists every setting of a zone without an effect on answers, and no other", () => {
    const text = section(deviations, "DNS: settings without an effect");
    const listed = (resource: string) => {
      const [, row] = new RegExp(`^\\| \\x60${resource}\\x60 +\\| ([^;|]+)`, "m").exec(text)!;
      return Array.from(row!.matchAll(/`(\w+)`/g), ([, name]) => name);
    };
    expect(listed("settings")).toEqual(others(settingNames, httpVersions));
    expect(listed("dns_settings")).toEqual(
      others(Object.keys(defaultSettings([])), servedDnsSettings),
    );
  });
});

function others(all: readonly string[], served: readonly string[]): string[] {
  return all.filter((name) => !served.includes(name));
}

describe("every page", () => {
  it.each(pages)("%s has links that lead somewhere, and JSON that is JSON", (page) => {
    for (const target of linksOf(read(page))) {
      expect(() => readdirOrFile(resolve(root, dirname(page), target))).not.toThrow();
    }
    for (const block of blocks(read(page), "jsonc?")) {
      const errors: Parameters<typeof parse>[1] = [];
      parse(block, errors, { allowTrailingComma: true });
      expect(errors).toEqual([]);
    }
  });
});

/** The first block of a page without a language. */
function unnamedBlock(page: string): string {
  const fences = read(page).matchAll(/^```(\w*)\n([^]*?)^```$/gm);
  return Array.from(fences).find(([, language]) => language === "")?.[2] as string;
}

/** Scripts of the repository, and for the page of an example its own as well. */
function scriptsFor(page: string): string[] {
  const packages = ["package.json", join(dirname(page), "package.json")];
  return packages
    .filter((path) => existsSync(join(root, path)))
    .flatMap((path) => Object.keys((JSON.parse(read(path)) as { scripts: object }).scripts));
}

function readdirOrFile(path: string): void {
  try {
    readdirSync(path);
  } catch {
    readFileSync(path);
  }
}
