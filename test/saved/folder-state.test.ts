/** Saving and restoring beside runtimes, and alone. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { FolderState } from "../../src/saved/folder-state.ts";
import { findRuntimes } from "../../src/saved/runtimes.ts";
import { readProcess } from "../support/processes.ts";
import { run } from "../support/project.ts";
import { FaultProcess } from "../faults/support/fault-process.ts";
import { everywhere, ledgeProgram, StateProject } from "./support/state-project.ts";

const freezeProgram = fileURLToPath(new URL("support/freeze-program.ts", import.meta.url));

describe.each(["ledge dev", "wrangler dev"])("beside %s", { timeout: 200_000 }, (tool) => {
  test("a save has one state of all bindings, and a restore brings it back", async () => {
    const project = new StateProject();
    const state = new FolderState(project.stateFolder);
    const server = await (tool === "ledge dev" ? project.ledgeDev() : project.wranglerDev());
    await server.put("one");
    expect(await state.save("one")).toMatchObject({ name: "one", isAutomatic: false });
    await server.put("two");
    const restored = await state.restore("one");
    expect(restored).toMatchObject({ name: "one", isRestarted: true });
    expect(await server.get()).toEqual(everywhere("one"));
    await state.restore(restored.undo as string);
    expect(await server.get()).toEqual(everywhere("two"));
    await state.reset();
    expect(await server.get()).toEqual(everywhere(null));
    await server.put("three");
    await server.process.stop();
    await state.restore("one");
    expect((await state.restore("one")).undo).toBeNull();
    const next = await project.ledgeDev();
    expect(await next.get()).toEqual(everywhere("one"));
    await next.process.stop();
    const check = await run(project.folder, "ledge", "store", "check");
    expect(check).toMatchObject({ code: 0 });
  });
});

describe("a killed process", { timeout: 200_000 }, () => {
  test("leaves no runtime frozen after a save, and none alive in the middle of a restore", async () => {
    const project = new StateProject();
    const server = await project.ledgeDev();
    const ids = () => findRuntimes(project.stateFolder).map(({ processId }) => processId);
    await server.put("one");
    await new FolderState(project.stateFolder).save("one");
    await server.put("two");
    for (const [step, value] of [
      ["frozen", "two"],
      ["aside", "two"],
      ["journal", "one"],
    ] as const) {
      const before = ids();
      const child = spawn(process.execPath, [freezeProgram, project.stateFolder, step], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      onTestFinished(() => void child.kill("SIGKILL"));
      await once(child.stdout, "data");
      expect(before.map((id) => readProcess(id)?.state)).toEqual(before.map(() => "T"));
      child.kill("SIGKILL");
      expect(await server.get()).toEqual(everywhere(value));
      expect(isDeepStrictEqual(ids(), before)).toBe(step === "frozen");
      expect(existsSync(join(project.stateFolder, "saved/.restoring.json"))).toBe(false);
    }
  });
});

describe("a save or a restore is refused", { timeout: 100_000 }, () => {
  test("while another program has a database open", async () => {
    const project = new StateProject();
    const server = await project.ledgeDev();
    await server.put("one");
    await server.process.stop();
    const folder = join(project.stateFolder, "v3/d1/miniflare-D1DatabaseObject");
    const name = readdirSync(folder).find((each) => /^[0-9a-f]+\.sqlite$/.test(each)) as string;
    const open = `const { DatabaseSync } = require("node:sqlite");
      new DatabaseSync(process.argv[1]).exec("SELECT * FROM t"); console.log("open"); setInterval(() => {}, 1000)`;
    const child = spawn(process.execPath, ["-e", open, join(folder, name)]);
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    const state = new FolderState(project.stateFolder);
    const message = `node (process ${child.pid}) has the database ${join(folder, name)} open. Close it there, and try again.`;
    await expect(state.save("one")).rejects.toThrow(message);
    expect(await state.list()).toEqual([]);
    child.kill("SIGKILL");
    await once(child, "exit");
    await state.save("one");
    // SQLite in this process does not count: it is closed before the files are replaced.
    new DatabaseSync(join(folder, name)).close();
  });
});

describe.each([
  {
    server: ["s3", "--port", "0"],
    put: ["store", "put", "photos/key"],
    get: ["store", "get", "photos/key", "-"],
  },
  {
    server: ["dns", "serve", "--port", "0", "--dns-port", "0"],
    put: ["dns", "add", "example.com", "www", "A"],
    get: ["dns", "dig", "www.example.com", "A"],
  },
])("beside a server of Ledge without a script", { timeout: 100_000 }, ({ server, put, get }) => {
  test(`ledge ${server[0]} has what was restored`, async () => {
    const { folder, stateFolder } = new StateProject();
    const process = new FaultProcess([ledgeProgram, ...server], { folder });
    await process.waitForOutput(/http:/);
    await run(folder, "ledge", "dns", "zones", "--create", "example.com");
    const ledge = async (...words: string[]) => {
      const { code, out, error } = await run(folder, "ledge", ...words);
      expect({ code, error }).toMatchObject({ code: 0 });
      // Of an answer, only the addresses: not its time.
      return out.match(/192\.0\.2\.\d/g) ?? out;
    };
    const isDns = server[0] === "dns";
    await ledge(...put, isDns ? "192.0.2.1" : join(folder, "index.js"));
    const first = await ledge(...get);
    const state = new FolderState(stateFolder);
    await state.save("one");
    await ledge(...put, isDns ? "192.0.2.2" : join(folder, "stock.json"));
    expect(await ledge(...get)).not.toEqual(first);
    await state.restore("one");
    expect(await ledge(...get)).toEqual(first);
  });
});
