import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { makePrivateFolder, readOrMakeFile } from "../../base/private-files.ts";
import { NotFoundError, UserError } from "../../base/user-error.ts";
import { recordServer } from "../../s3/state-files.ts";
import { FolderState } from "../../saved/folder-state.ts";
import type { Restored, SavedState, StateControl } from "../../saved/state-control.ts";
import type { Change } from "../api/activity.ts";
import { ChangeFeed } from "./activity-log.ts";
import type { ExplorerCall } from "./call.ts";
import { ExplorerServer } from "./explorer-server.ts";
import { connectState } from "./state-client.ts";
import { stateRoutes } from "./state.ts";

const token = "0".repeat(32);
const restored: Restored = { name: null, undo: null, ended: ["GET /slow"], isRestarted: false };

/** States without content. */
class NamedStates implements StateControl {
  readonly states = new Map<string, SavedState>();

  async list() {
    return [...this.states.values()];
  }

  async save(name: string, { replace = false }: { readonly replace?: boolean } = {}) {
    if (this.states.has(name) && !replace) throw new UserError(`The state ${name} exists.`);
    const saved = { name, savedAt: new Date(0).toISOString(), bytes: 1, isAutomatic: false };
    this.states.set(name, saved);
    return saved;
  }

  async restore(name: string): Promise<Restored> {
    this.#find(name);
    return { ...restored, name, undo: "before" };
  }

  async reset() {
    return restored;
  }

  async delete(name: string) {
    this.#find(name);
    this.states.delete(name);
  }

  async diff(from: string, to?: string) {
    const change = {
      kind: "KV",
      place: this.#find(from),
      what: to ?? "",
      change: "added",
    } as const;
    return { changes: [change] };
  }

  #find(name: string): string {
    if (!this.states.has(name)) throw new NotFoundError(`There is no saved state ${name}.`);
    return name;
  }
}

let stateFolder: string;
beforeEach(() => {
  stateFolder = mkdtempSync(join(tmpdir(), "ledge-state-"));
  onTestFinished(() => rmSync(stateFolder, { recursive: true, force: true }));
});

/** An explorer with the routes of states alone. */
async function serve() {
  const control = new NamedStates();
  const changes = new ChangeFeed();
  const told: Change[] = [];
  changes.follow((change) => told.push(change));
  let cancelled = 0;
  const tasks = { cancelAll: async () => void cancelled++ };
  const server = new ExplorerServer({
    context: {} as ExplorerCall["context"],
    routes: stateRoutes({ control: async () => control, changes, tasks }),
    changes,
    token,
    onError: (error) => expect.unreachable(String(error)),
  });
  const url = `http://127.0.0.1:${await server.listen(0, "127.0.0.1")}`;
  const folder = join(stateFolder, "v3", "explorer");
  makePrivateFolder(folder);
  readOrMakeFile({ folder, name: "token" }, () => `${token}\n`);
  const removeRecord = recordServer(folder, url);
  onTestFinished(async () => {
    removeRecord();
    await server.close();
  });
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${url}/api/state${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? null : (JSON.parse(text) as unknown) };
  };
  return { control, server, told, call, removeRecord, cancelled: () => cancelled };
}

const refusal = (message: RegExp) => ({ message: expect.stringMatching(message) });

describe("stateRoutes()", () => {
  it.each<[string, string, string, unknown, number, unknown]>([
    ["list", "GET", "", undefined, 200, { states: [{ name: "base" }] }],
    ["save", "POST", "/save", { name: "other" }, 200, { name: "other", bytes: 1 }],
    ["replace", "POST", "/save", { name: "base", replace: true }, 200, { name: "base" }],
    ["restore", "POST", "/restore", { name: "base" }, 200, { name: "base", undo: "before" }],
    ["reset", "POST", "/reset", undefined, 200, { ended: ["GET /slow"] }],
    ["diff with now", "GET", "/diff?from=base", undefined, 200, { changes: [{ what: "" }] }],
    ["diff", "GET", "/diff?from=base&to=b", undefined, 200, { changes: [{ what: "b" }] }],
    ["delete", "DELETE", "/base", undefined, 200, null],
    ["save, which exists", "POST", "/save", { name: "base" }, 409, refusal(/exists/)],
    ["save, a wrong name", "POST", "/save", { name: 1 }, 400, refusal(/"name".* must be text/)],
    ["save, no name", "POST", "/save", {}, 400, refusal(/"name" .* is missing/)],
    ["restore, unknown", "POST", "/restore", { name: "no" }, 404, refusal(/no saved state no/)],
    ["diff, unknown", "GET", "/diff?from=no", undefined, 404, refusal(/no saved state no/)],
    ["diff of nothing", "GET", "/diff", undefined, 400, refusal(/"from"/)],
    ["delete, unknown", "DELETE", "/no", undefined, 404, refusal(/no saved state no/)],
  ])("%s", async (_, method, path, body, status, expected) => {
    const { control, call } = await serve();
    await control.save("base");
    expect(await call(method, path, body)).toMatchObject({ status, body: expected });
  });

  it("tell the pages: of the list after a save, and of all lists after a restore, which ends tasks", async () => {
    const { call, told, cancelled } = await serve();
    await call("POST", "/save", { name: "base" });
    expect([told, cancelled()]).toEqual([[{ topic: "state" }], 0]);
    await call("POST", "/restore", { name: "base" });
    expect([told.at(-1), cancelled()]).toEqual([{ topic: "all" }, 1]);
  });
});

describe("connectState()", () => {
  it("calls the dev server of the folder, whose refusals keep their kind", async () => {
    const { control } = await serve();
    const state = await connectState(stateFolder);
    expect(await state.save("base")).toEqual(control.states.get("base"));
    expect(await state.list()).toHaveLength(1);
    await expect(state.save("base")).rejects.toThrow(new UserError("The state base exists."));
    expect(await state.save("base", { replace: true })).toMatchObject({ name: "base" });
    expect(await state.restore("base")).toEqual({ ...restored, name: "base", undo: "before" });
    expect(await state.reset()).toEqual(restored);
    expect((await state.diff("base")).changes).toMatchObject([{ place: "base", what: "" }]);
    expect((await state.diff("base", "b")).changes).toMatchObject([{ what: "b" }]);
    await state.delete("base");
    await expect(state.delete("base")).rejects.toThrow(NotFoundError);
  });

  it("says that the dev server ended during a call", async () => {
    const { control, server } = await serve();
    const begun = Promise.withResolvers<void>();
    const never = Promise.withResolvers<Restored>();
    control.restore = () => {
      begun.resolve();
      return never.promise;
    };
    const state = await connectState(stateFolder);
    const result = state.restore("base").catch((error: unknown) => error);
    await begun.promise;
    await server.close();
    expect(await result).toMatchObject({
      name: "UserError",
      message: expect.stringMatching(/^The dev server at .* ended before it answered/),
    });
    await expect((await connectState(stateFolder)).list()).rejects.toThrow(UserError);
  });

  it("works on the files when the dev server has ended, and when there was none", async () => {
    expect(await connectState(stateFolder)).toBeInstanceOf(FolderState);
    const { removeRecord } = await serve();
    expect(await connectState(stateFolder)).not.toBeInstanceOf(FolderState);
    removeRecord();
    expect(await connectState(stateFolder)).toBeInstanceOf(FolderState);
  });
});
