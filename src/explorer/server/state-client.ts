/**
 * The state of a folder, for processes that are not its dev server. A dev server restores in its running
 * runtimes and ends the requests that run, so it does the work where there is one: its explorer takes the
 * calls (`state.ts`). Without a dev server this process does the work on the files.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { request } from "../../base/node-http.ts";
import { NotFoundError, UserError } from "../../base/user-error.ts";
import { findServer } from "../../s3/state-files.ts";
import { FolderState, type FolderStateOptions } from "../../saved/folder-state.ts";
import type { StateControl } from "../../saved/state-control.ts";
import { pluginFolder } from "../../state/folder.ts";
import type { ApiFailure } from "../api/project.ts";
import type { StateList } from "../api/state.ts";

/** @param options of the folder, for a folder without a dev server */
export async function connectState(
  stateFolder: string,
  options?: FolderStateOptions,
): Promise<StateControl> {
  const folder = pluginFolder(stateFolder, "explorer");
  const url = findServer(folder);
  if (url === null) return new FolderState(stateFolder, options);
  return serverState(url, readFileSync(join(folder, "token"), "utf8").trim());
}

function serverState(url: string, token: string): StateControl {
  /** @throws UserError with the sentence of the dev server, or when the dev server ends */
  async function call<Result>(method: string, path: string, body?: object): Promise<Result> {
    // Without a limit of time: a large state takes as long as it takes.
    const headers = { authorization: `Bearer ${token}` };
    const sent = request(`${url}/api/state${path}`, { method, headers });
    sent.end(body === undefined ? "" : JSON.stringify(body));
    let status: number | undefined;
    let text: string;
    try {
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      status = response.statusCode;
      text = Buffer.concat(await response.toArray()).toString();
    } catch (error) {
      throw new UserError(
        `The dev server at ${url} ended before it answered (${(error as Error).message}). A state is saved ` +
          "whole or not at all, and the next start completes a restore that has begun. Run the command again.",
      );
    }
    if (status === 200) return JSON.parse(text) as Result;
    const { message } = JSON.parse(text) as ApiFailure;
    throw status === 404 ? new NotFoundError(message) : new UserError(message);
  }
  return {
    list: async () => (await call<StateList>("GET", "")).states,
    save: (name, options) => call("POST", "/save", { name, ...options }),
    restore: (name) => call("POST", "/restore", { name }),
    reset: ({ savesUndo = false } = {}) => call("POST", `/reset${savesUndo ? "?undo=true" : ""}`),
    delete: (name) => call("DELETE", `/${encodeURIComponent(name)}`),
    diff: (from, to) =>
      call(
        "GET",
        `/diff?${new URLSearchParams({ from, ...(to !== undefined && { to }) }).toString()}`,
      ),
  };
}
