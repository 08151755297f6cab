/** Bad configuration files, arguments, and names and paths of imports: a message, and no stack. */
import { once } from "node:events";
import { symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { UserError } from "../../src/base/user-error.ts";
import { argumentsOf, optionsOf, type Command, type LeafCommand } from "../../src/cli/command.ts";
import { root } from "../../src/cli/root.ts";
import { runCommand } from "../../src/cli/run.ts";
import { readConfig } from "../../src/config/read-config.ts";
import { run } from "../support/project.ts";
import { StoreProject } from "../support/store-command.ts";
import { temporaryFolder } from "../support/store.ts";
import { isLong, SeededRandom } from "./support/seed.ts";

/** What `readConfig()` says about a file; `null` when it accepts the file. */
function mistake(
  name: string,
  content: string | Uint8Array,
  folder = temporaryFolder(),
): string | null {
  writeFileSync(join(folder, name), content);
  try {
    readConfig({ folder });
    return null;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return error.message;
  }
}

describe("readConfig()", () => {
  const levels = 100_000;
  const nested = (open: string, close: string): string =>
    `${open.repeat(levels)}1${close.repeat(levels)}`;

  test.each([
    ["lists", "wrangler.json", `{"a":${nested("[", "]")}}`],
    ["tables", "wrangler.jsonc", nested('{"a":', "}")],
    ["lists that are not closed", "wrangler.json", "[".repeat(levels)],
    [
      "lists of DNS",
      "wrangler.json",
      `{"dns":{"zones":[{"name":"a.test","records":${nested("[", "]")}}]}}`,
    ],
    ["lists", "wrangler.toml", `a = ${nested("[", "]")}\n`],
    ["tables", "wrangler.toml", `a = ${nested("{a=", "}")}\n`],
    ["a key", "wrangler.toml", `${"a.".repeat(levels)}b = 1\n`],
    ["a header", "wrangler.toml", `[${"a.".repeat(levels)}b]\nc = 1\n`],
    ["a key of DNS", "wrangler.toml", `[dns]\n${"a.".repeat(levels)}b = 1\n`],
  ])("refuses 100,000 levels of %s in %s", (_, name, content) => {
    expect(mistake(name, content)).toMatch(/ is (?:nested more than|not TOML: .*nested)/);
  });

  test("accepts 100 levels", () => {
    expect(mistake("wrangler.json", `{"a":${"[".repeat(99)}${"]".repeat(99)}}`)).toBeNull();
    expect(mistake("wrangler.toml", `a = ${"[".repeat(99)}${"]".repeat(99)}\n`)).toBeNull();
  });

  test.each(["wrangler.json", "wrangler.jsonc", "wrangler.toml"])(
    "refuses a %s that is no text with a message",
    (name) => {
      for (const content of [
        Uint8Array.from({ length: 5000 }, (_, index) => (index * 37) % 256),
        "\0".repeat(1000),
        "\ufeff\ufeff{",
        '"'.repeat(10_001),
        "[[store_buckets]]".repeat(1000),
      ])
        expect(mistake(name, content)).toMatch(/^.*wrangler\.\w+:\d+:\d+/);
    },
  );

  test("throws nothing but UserError for mutated files", () => {
    const random = new SeededRandom("mutated configuration files");
    const [tomlFolder, jsonFolder] = [temporaryFolder(), temporaryFolder()];
    const table = {
      name: "script",
      store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
      dns: {
        api_port: 8788,
        hosts: ["127.0.0.1"],
        api_hosts: ["dns.test"],
        api_origins: ["http://app.test"],
        keys: [{ name: "key", secret: "c2VjcmV0" }],
        transfers: { allow: ["10.0.0.0/8"], notify: [{ address: "127.0.0.1:53", key: "key" }] },
        tokens: [{ token: "some-token", zones: ["a.test"], read_only: true }],
        zones: [{ name: "a.test", records: [{ type: "A", name: "@", content: "192.0.2.1" }] }],
        faults: [{ status: 500 }],
      },
      env: { staging: { store_buckets: [], dns: {} } },
    };
    const toml =
      'name = "s"\n[[store_buckets]]\nbinding = "A"\nbucket_name = "a"\n[dns]\nport = 1\n' +
      '[[dns.zones]]\nname = "a.test"\nrecords = [{ type = "A", name = "@", content = "192.0.2.1" }]\n';
    const tokens = [
      ...'{}[]",:=.#\n\0-0'.split(""),
      "null",
      "1e999",
      "__proto__",
      "true",
      '"x"',
      "[",
      "é",
      "\\u0000",
    ];
    const count = isLong ? 20_000 : 500;
    let accepted = 0;
    for (let round = 0; round < count; round++) {
      const isToml = random.next() < 0.5;
      let text = isToml ? toml : JSON.stringify(table);
      for (let changes = random.integer(1, 3); changes > 0; changes--) {
        const at = random.integer(0, text.length);
        text = text.slice(0, at) + random.pick(tokens) + text.slice(at + random.integer(0, 4));
      }
      const [name, folder] = isToml ? ["wrangler.toml", tomlFolder] : ["wrangler.json", jsonFolder];
      if (mistake(name, text, folder) === null) accepted++;
    }
    // Any other error has ended the test. Both kinds of files occur.
    expect(accepted).toBeGreaterThan(0);
    expect(accepted).toBeLessThan(count);
  });
});

/** The commands below a command, with their names. */
async function leaves(command: Command, path: string[]): Promise<[string, LeafCommand][]> {
  if (!("commands" in command)) return [[path.join(" "), command]];
  const below = await command.commands();
  return (await Promise.all(below.map((each) => leaves(each, [...path, each.name])))).flat();
}

async function usageOf(words: readonly string[]): Promise<{ code: number; text: string }> {
  const lines: string[] = [];
  const write = (text: string): void => void lines.push(text);
  const code = await runCommand(root, words, { out: write, error: write });
  return { code, text: lines.join("\n") };
}

describe("the arguments of every command", async () => {
  test.each(await leaves(root, []))(
    "ledge %s: a mistake is exit code 2 and a sentence",
    async (path, command) => {
      const given = path.split(" ");
      const expected = argumentsOf(command);
      const required = expected
        .filter(({ isOptional }) => !isOptional)
        .map(({ choices: [choice = "word"] = [] }) => choice);
      const isOpen = expected.some(({ isRepeated }) => isRepeated);
      const options = optionsOf(command);
      const wrong = [
        [...required, "--no-such-option"],
        [...required, "-Z"],
        [...required, `--${"x".repeat(1000)}`],
        ...(isOpen ? [] : [[...expected.map(() => "word"), "one too many"]]),
        ...(required.length === 0 ? [] : [required.slice(1)]),
        ...options.map(({ name, value }) => [
          ...required,
          // An option without a value, or with one that may be left out, takes no number.
          value === undefined || value.startsWith("[") ? `--${name}=1` : `--${name}`,
        ]),
        ...options
          .filter(({ value }) =>
            ["PORT", "MS", "http|https", "LEVEL", "true|false"].includes(value ?? ""),
          )
          .flatMap(({ name }) =>
            ["", "x", "-1", "1e9", "99999999999", "1.5", "\n"].map((value) => [
              ...required,
              `--${name}=${value}`,
            ]),
          ),
      ];
      for (const words of wrong) {
        const { code, text } = await usageOf([...given, ...words]);
        expect([words, code, text]).toEqual([words, 2, expect.stringContaining("--help")]);
        expect(text).not.toMatch(/^ +at /m);
      }
    },
  );

  test("a command says a mistake of the configuration without a stack", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "wrangler.json"), `{"a":${"[".repeat(100_000)}`);
    for (const words of [["dev"], ["types"], ["store", "buckets"], ["dns", "zones"]]) {
      const { code, error } = await run(folder, "ledge", ...words);
      expect([words, code, error]).toEqual([
        words,
        1,
        "wrangler.json:1:105 is nested more than 100 levels deep.\n",
      ]);
    }
  });
});

describe("ledge store import", () => {
  test("takes odd names as keys, follows no link to a folder, and skips what is no file", async () => {
    const project = new StoreProject();
    const names = "-rf --help %2e%2e ..a a.. ... * ~ con ü \u{1f600} # ?x=1 $HOME a\\..\\b".split(
      " ",
    );
    names.push(" ", "a b", "a\nb", "x".repeat(255));
    for (const name of names) project.write(join("in", name), name);
    project.write("in/deep/.hidden/file", "hidden");
    project.write("outside/secret", "secret");
    symlinkSync(project.path("outside"), project.path("in/link-to-folder"));
    symlinkSync(project.path("in"), project.path("in/loop"));
    symlinkSync("nowhere", project.path("in/dangling"));
    const server = createServer().listen(project.path("in/socket"));
    onTestFinished(() => void server.close());
    await once(server, "listening");

    const imported = await project.store("import", "photos", "in");
    expect(imported).toMatchObject({ code: 0, errors: "" });
    const { text } = await project.store("list", "photos", "--json");
    const keys = text
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { key: string }).key);
    expect(keys.toSorted()).toEqual([...names, "deep/.hidden/file"].toSorted());
    // And back: no key leads out of the folder.
    expect(await project.store("export", "photos", "out")).toMatchObject({ code: 0 });
    const again = await project.store("import", "photos", "out");
    expect(again.text).toMatch(/unchanged/);
  });

  test("reads nothing outside the folder, whatever its manifest says", async () => {
    const project = new StoreProject();
    project.write("outside/secret", "secret");
    project.write("in/inside", "inside");
    symlinkSync(project.path("outside"), project.path("in/link"));
    symlinkSync(project.path("outside/secret"), project.path("in/file-link"));
    const entry = { key: "stolen", size: 6, etag: "e", storageClass: "Standard" };
    const manifest = (...paths: string[]): string =>
      [{ format: "ledge store export", version: 1 }, ...paths.map((path) => ({ ...entry, path }))]
        .map((line) => `${JSON.stringify(line)}\n`)
        .join("");
    for (const path of ["/etc/hostname", "a/../../outside/secret"]) {
      project.write("in/.ledge-metadata.jsonl", manifest(path));
      const { code, errors } = await project.store("import", "photos", "in");
      expect([code, errors]).toEqual([
        1,
        expect.stringContaining("names a file outside the folder"),
      ]);
    }
    project.write("in/.ledge-metadata.jsonl", manifest("link/secret", "file-link"));
    const linked = await project.store("import", "photos", "in");
    expect(linked.code).toBe(1);
    expect(linked.errors).toContain("link/secret: The manifest names a link that leads out");
    expect(linked.errors).toContain("file-link: The manifest names a link that leads out");
    expect((await project.store("head", "photos/stolen")).code).toBe(3);

    project.write("in/.ledge-metadata.jsonl", `${manifest()}${"[".repeat(100_000)}\n`);
    const deep = await project.store("import", "photos", "in");
    expect([deep.code, deep.errors]).toEqual([
      1,
      expect.stringContaining("Line 2 of the manifest"),
    ]);
  });
});
