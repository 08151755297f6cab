import { describe, expect, it } from "vitest";
import { editConfiguration } from "./configuration-edit.ts";

const schema = "node_modules/ledge/dist/config-schema.json";
const edit = (text: string, kind: "json" | "toml") =>
  editConfiguration(text, kind === "toml", schema);

describe("editConfiguration() of JSON", () => {
  const before = `{
  // The script
  "name": "photos",
  "r2_buckets": [
    // The photos
    { "binding": "PHOTOS", "bucket_name": "photos", "preview_bucket_name": "local" },
  ],
  "env": {
    "staging": {
      "r2_buckets": [{ "binding": "PHOTOS", "bucket_name": "staging" }]
    }
  }, // all environments
}
`;
  const after = `{
  "$schema": "${schema}",
  // The script
  "name": "photos",
  "r2_buckets": [
    // The photos
    { "binding": "PHOTOS", "bucket_name": "photos", "preview_bucket_name": "local" },
  ],
  "store_buckets": [{ "binding": "PHOTOS", "bucket_name": "photos", "preview_bucket_name": "local" }],
  "env": {
    "staging": {
      "r2_buckets": [{ "binding": "PHOTOS", "bucket_name": "staging" }],
      "store_buckets": [{ "binding": "PHOTOS", "bucket_name": "staging" }]
    }
  }, // all environments
}
`;

  it("adds store_buckets to each part, and keeps comments", () => {
    expect(edit(before, "json")).toEqual({ text: after, notes: [] });
  });

  it("finds nothing to do the second time", () => {
    expect(edit(after, "json").text).toBe(after);
  });

  it("adds to a list that exists", () => {
    const text = `{\n\t"$schema": "own.json",\n\t"store_buckets": [{ "binding": "A", "bucket_name": "a" }],\n\t"r2_buckets": [{ "binding": "B", "bucket_name": "b" }]\n}\n`;
    const edited = edit(text, "json").text;
    expect(edited).toContain('"own.json"');
    expect(JSON.parse(edited)).toMatchObject({
      store_buckets: [
        { binding: "A", bucket_name: "a" },
        { binding: "B", bucket_name: "b" },
      ],
    });
  });

  it("writes one line for each bucket, with the indentation of the file", () => {
    const entries = `[{ "binding": "A", "bucket_name": "a" }, { "binding": "B", "bucket_name": "b" }]`;
    const lines = ["{", `\t"$schema": "own.json",`, `\t"r2_buckets": ${entries}`, "}", ""];
    expect(edit(lines.join("\r\n"), "json").text.split("\r\n")).toEqual([
      ...lines.slice(0, 2),
      `\t"r2_buckets": ${entries},`,
      `\t"store_buckets": [`,
      `\t\t{ "binding": "A", "bucket_name": "a" },`,
      `\t\t{ "binding": "B", "bucket_name": "b" }`,
      `\t]`,
      ...lines.slice(3),
    ]);
  });

  it("replaces the schema of wrangler, and leaves remote buckets", () => {
    const text = `{ "$schema": "./node_modules/wrangler/config-schema.json", "r2_buckets": [{ "binding": "A", "bucket_name": "a", "remote": true }] }`;
    expect(JSON.parse(edit(text, "json").text)).toEqual({
      $schema: schema,
      r2_buckets: [{ binding: "A", bucket_name: "a", remote: true }],
    });
  });
});

describe("editConfiguration() of TOML", () => {
  const before = `# The script
name = "photos"

[[r2_buckets]]
binding = "PHOTOS" # the photos
bucket_name = "photos"

# Variables
[vars]
A = "1"

[[env.staging.r2_buckets]]
binding = "PHOTOS"
bucket_name = "staging"
`;
  const after = `#:schema ${schema}
# The script
name = "photos"

[[r2_buckets]]
binding = "PHOTOS" # the photos
bucket_name = "photos"

[[store_buckets]]
binding = "PHOTOS"
bucket_name = "photos"

# Variables
[vars]
A = "1"

[[env.staging.r2_buckets]]
binding = "PHOTOS"
bucket_name = "staging"

[[env.staging.store_buckets]]
binding = "PHOTOS"
bucket_name = "staging"
`;

  it("adds store_buckets to each part, and keeps comments", () => {
    expect(edit(before, "toml")).toEqual({ text: after, notes: [] });
  });

  it("finds nothing to do the second time", () => {
    expect(edit(after, "toml").text).toBe(after);
  });

  it("adds tables for a list in one line", () => {
    const text = `r2_buckets = [{ binding = "A", bucket_name = "a" }]\n[vars]\nX = "1"`;
    expect(edit(text, "toml").text).toBe(
      `#:schema ${schema}\n${text}\n\n[[store_buckets]]\nbinding = "A"\nbucket_name = "a"\n`,
    );
  });

  it("refuses a file that cannot be extended, and says what to add", () => {
    const text = `env = { staging = { r2_buckets = [{ binding = "A", bucket_name = "a" }] } }\n`;
    expect(edit(text, "toml")).toEqual({
      text,
      notes: ["store_buckets cannot be added here: add A by hand."],
    });
  });
});
