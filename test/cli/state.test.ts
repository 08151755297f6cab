/** `ledge state` as people run it: alone, and beside a dev server. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ledgeDev, write } from "../support/dev-process.ts";
import { runInProcess } from "../support/in-process-command.ts";
import { run } from "../support/project.ts";
import {
  createStateProject,
  firstSteps,
  runSteps,
  startStateDev,
  type Step,
} from "../support/state-project.ts";

const laterSteps: readonly Step[] = [
  ["bucketDelete", "small"],
  ["kv", "a", "2"],
  ["d1", "INSERT INTO users VALUES (3, 'cleo')"],
];
const laterLines = [
  "D1 shop: table users: row 3 added",
  "KV KV: key a changed",
  "bucket photos: key small removed",
];

function commands(folder: string) {
  const state = (...words: string[]) => runInProcess(folder, ["state", ...words]);
  /** The lines of a command that succeeds. */
  const lines = async (...words: string[]): Promise<string[]> => {
    const { code, out, error } = await state(...words);
    expect({ code, error }).toEqual({ code: 0, error: "" });
    return out.trimEnd().split("\n");
  };
  const json = async (...words: string[]): Promise<unknown> =>
    JSON.parse((await state(...words, "--json")).out);
  return { state, lines, json };
}

const unchanged = 'Nothing differs between "clean" and what is there now.';

const undoLine = expect.stringMatching(
  /^To undo this: ledge state restore before-restore-/,
) as string;

describe("ledge state", () => {
  it("says that nothing is saved yet", async () => {
    const folder = createStateProject();
    expect(await commands(folder).state("list")).toEqual({
      code: 0,
      out: "",
      error: 'There are no saved states. "ledge state save NAME" saves one.\n',
    });
  });

  it("saves, compares, restores and undoes, while no dev server runs", async () => {
    const folder = createStateProject();
    const { state, lines, json } = commands(folder);
    const dev = await startStateDev(folder);
    await dev.run(...firstSteps);
    const [saved, hint] = await lines("save", "clean");
    expect(saved).toMatch(/^Saved "clean": \d+\.\d KiB, in \d+\.\d s\.$/);
    expect(hint).toBe("To restore it: ledge state restore clean");
    await dev.run(...laterSteps);
    const later = await dev.run(["read"]);
    await dev.stop();
    expect(await lines("diff", "clean")).toEqual(laterLines);
    expect(await state("diff", "clean", "--exit-code")).toMatchObject({ code: 1, error: "" });
    expect(await json("diff", "clean")).toMatchObject({
      changes: [{ kind: "D1", place: "shop", what: "table users: row 3", change: "added" }, {}, {}],
    });

    const [restored, undo = ""] = await lines("restore", "clean");
    expect(restored).toBe('Restored "clean".');
    const [, automatic = ""] = /^To undo this: ledge state restore (\S+)$/.exec(undo) ?? [];
    expect(await lines("diff", "clean")).toEqual([unchanged]);
    expect(await lines("restore", "clean")).toEqual([
      '"clean" is what is there already: nothing was changed.',
    ]);
    const names = (await lines("list")).map((line) => line.split(/ {2,}/));
    expect(names.map(([name, , , , mark = ""]) => [name, mark])).toEqual([
      [automatic, "automatic"],
      ["clean", ""],
    ]);
    expect(names[0]?.[1]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(await lines("diff", "clean", automatic)).toEqual(laterLines);

    expect(await lines("reset")).toEqual(["The state is empty.", undoLine]);
    expect(await lines("diff", "clean")).toContain("D1 shop: table users removed");
    expect(await json("restore", automatic)).toMatchObject({ name: automatic, isRestarted: false });
    const second = await startStateDev(folder);
    expect(await second.run(["read"])).toEqual(later);
  });

  it("saves and restores beside ledge dev, whose script goes on", async () => {
    const folder = createStateProject();
    const { lines } = commands(folder);
    const dev = ledgeDev(folder);
    const url = await dev.url();
    await runSteps(url, firstSteps);
    const first = await runSteps(url, [["read"]]);
    // The commands of this test but this one run in the process of the test.
    const saved = await run(folder, "ledge", "state", "save", "clean");
    expect(saved).toMatchObject({ code: 0, error: "" });
    await runSteps(url, laterSteps);
    expect(await lines("diff", "clean")).toEqual(laterLines);
    expect((await lines("restore", "clean")).slice(0, 2)).toEqual(['Restored "clean".', undoLine]);
    await expect.poll(() => runSteps(url, [["read"]]).catch(() => null)).toEqual(first);
    expect(await lines("diff", "clean")).toEqual([unchanged]);
    await runSteps(url, laterSteps);
    expect((await lines("reset")).slice(0, 2)).toEqual(['Reset to "clean".', undoLine]);
    await expect.poll(() => runSteps(url, [["read"]]).catch(() => null)).toEqual(first);
  });

  it("resets to the seed of the project, while no dev server runs", async () => {
    const folder = createStateProject();
    const { lines } = commands(folder);
    write(join(folder, "seed/kv/KV.json"), [{ key: "seeded", value: "1" }]);
    const configuration = JSON.parse(readFileSync(join(folder, "wrangler.json"), "utf8")) as object;
    write(join(folder, "wrangler.json"), { ...configuration, state: { seed: "./seed" } });
    expect((await lines("reset"))[0]).toMatch(/^Reset to "seed-[0-9a-f]+"\.$/);
    await lines("save", "seeded");
    expect((await lines("list")).map((line) => line.split(" ")[0])).toEqual([
      "seeded",
      expect.stringMatching(/^before-restore-/),
      expect.stringMatching(/^seed-/),
    ]);
    const dev = await startStateDev(folder);
    expect(await dev.run(["read"])).toMatchObject({ kv: [["seeded", "1"]] });
  });

  it("exports and imports, and says what stands in the way", async () => {
    const folder = createStateProject();
    const { state, lines, json } = commands(folder);
    write(join(folder, ".wrangler/state/v3/kv/sessions/blobs/1"), "x".repeat(2000));
    await lines("save", "clean");
    expect(await lines("export", "clean", "clean.tar.zst")).toEqual([
      expect.stringMatching(/^Exported "clean" to clean\.tar\.zst: \d+ bytes\.$/),
    ]);
    expect(await json("export", "now.tar.zst")).toEqual({
      name: null,
      file: "now.tar.zst",
      bytes: readFileSync(join(folder, "now.tar.zst")).length,
    });
    expect(await lines("import", "clean.tar.zst", "theirs")).toEqual([
      expect.stringMatching(/^Imported "theirs": \d+\.\d KiB\.$/),
      "To restore it: ledge state restore theirs",
    ]);
    expect(await lines("diff", "clean", "theirs")).toEqual([
      'Nothing differs between "clean" and "theirs".',
    ]);
    const failures: [words: string[], code: number, message: string][] = [
      [["import", "clean.tar.zst"], 1, 'There is a saved state "clean".'],
      [["import", "wrangler.json", "w"], 1, "is no export of Ledge"],
      [["import", "absent", "w"], 1, "no such file or directory"],
      [["export", "absent", "file"], 3, 'There is no saved state "absent".'],
      [["export"], 2, "FILE is missing"],
      [["save", "clean"], 1, 'There is a saved state "clean" already'],
      [["save", "a/b"], 1, "cannot be the name of a saved state"],
      [["restore", "absent"], 3, 'There is no saved state "absent".'],
      [["diff", "clean", "absent"], 3, 'There is no saved state "absent".'],
      [["delete", "clean", "absent"], 3, "Nothing was deleted."],
    ];
    for (const [words, code, message] of failures) {
      const failed = await state(...words);
      const error = expect.stringContaining(message);
      expect({ words, ...failed }).toMatchObject({ words, code, out: "", error });
      expect(failed.error).not.toContain("    at ");
    }
    const refused = await run(folder, "ledge", "state", "restore", "absent");
    expect(refused).toMatchObject({ code: 3, out: "" });
    expect(refused.error).toContain('There is no saved state "absent".');
    expect(await lines("save", "clean", "--replace")).toHaveLength(2);
    expect(await lines("delete", "clean", "theirs")).toEqual(["Deleted clean, theirs."]);
    expect(await json("list")).toEqual([]);
    const left = readdirSync(folder).filter((name) => name.includes("tar"));
    expect(left).toEqual(["clean.tar.zst", "now.tar.zst"]);
  });

  it("finds the state folder by --persist-to, without a configuration of its bindings", async () => {
    const folder = createStateProject();
    const { lines } = commands(folder);
    writeFileSync(join(folder, "wrangler.json"), "{}");
    expect((await lines("save", "empty", "--persist-to", "other"))[0]).toContain("0 bytes");
    expect(readdirSync(join(folder, "other/saved"))).toContain("empty");
  });
});
