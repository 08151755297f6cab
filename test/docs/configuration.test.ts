/** docs/configuration.md: readConfig() accepts the examples, and the tables list every key. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readConfig, type ProjectConfig } from "../../src/config/read-config.ts";
import { bucketKeys } from "../../src/config/store-buckets.ts";
import { remoteKeys } from "../../src/config/remotes.ts";
import { dnsKeys } from "../../src/dns/config/dns-config.ts";
import { temporaryFolder } from "../support/store.ts";

const page = readFileSync(new URL("../../docs/configuration.md", import.meta.url), "utf8");
const sections = new Map(
  page.split(/^## /m).map((text) => [text.slice(0, text.indexOf("\n")), text]),
);

/** Reads each code block of a section as a configuration file. */
function examples(section: string): ProjectConfig[] {
  const blocks = sections.get(section)?.matchAll(/^```(toml|jsonc)\n([^]*?)^```$/gm) ?? [];
  return Array.from(blocks, ([, language, text]) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, `wrangler.${language}`), text as string);
    return readConfig({ folder });
  });
}

function keysOfTable(section: string): string[] {
  const rows = sections.get(section)?.matchAll(/^\| (`[^|]+?) +\|/gm) ?? [];
  return Array.from(rows, ([, cell]) => cell as string).flatMap((cell) =>
    Array.from(cell.matchAll(/`(\w+)`/g), ([, key]) => key as string),
  );
}

describe("docs/configuration.md", () => {
  it("shows the same configuration in JSON and in TOML", () => {
    const [json, toml, ...more] = examples("# Configuration");
    expect(more).toEqual([]);
    // TOML names the schema in a comment.
    const { $schema: schema, ...table } = json?.table ?? {};
    expect(schema).toBe("node_modules/ledge/dist/config-schema.json");
    expect(table).toEqual(toml?.table);
    expect(json?.buckets).toEqual([{ binding: "PHOTOS", bucketName: "photos" }]);
  });

  it("lists every key of a bucket, with an example of each", () => {
    expect(keysOfTable("`store_buckets`").toSorted()).toEqual(bucketKeys.toSorted());
    const [config] = examples("`store_buckets`");
    expect(config?.buckets).toEqual([
      { binding: "PHOTOS", bucketName: "photos", previewBucketName: "photos-local" },
      { binding: "ARCHIVE", bucketName: "archive", storageClass: "InfrequentAccess" },
    ]);
  });

  it("lists every key of a remote", () => {
    expect(keysOfTable("`remotes`").toSorted()).toEqual(remoteKeys.toSorted());
    const [config] = examples("`remotes`");
    expect(config?.buckets[0]?.remote).toMatchObject({ name: "cluster", prefix: "team/" });
  });

  it("lists every key of DNS", () => {
    expect(keysOfTable("`dns`").toSorted()).toEqual(dnsKeys.toSorted());
    const [config] = examples("`dns`");
    expect(config?.dns).toMatchObject({ apiPort: 8788, port: 8053, binding: "DNS" });
  });

  it("shows an environment that does not inherit buckets", () => {
    const [config] = examples("Environments");
    const staging = readConfig({ configPath: config?.path as string, environment: "staging" });
    expect(staging.buckets).toEqual([{ binding: "PHOTOS", bucketName: "photos-staging" }]);
  });

  it("shows the messages of mistakes", () => {
    const folder = temporaryFolder();
    const path = join(folder, "wrangler.toml");
    writeFileSync(path, '[[store_buckets]]\nbinding = "my-photos"\nbucketname = "photos"\n');
    const [, shown] = /```text\n([^]*?)\n```/.exec(sections.get("Mistakes") ?? "") ?? [];
    expect(() => readConfig({ folder })).toThrow(
      (shown as string).replaceAll("wrangler.toml", path),
    );
  });
});
