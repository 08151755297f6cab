/** The explorer on a state folder of its own, for the tests of one file. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { openExplorerLink, type ExplorerAccess } from "../../support/explorer-access.ts";
import {
  startExplorer,
  type RunningExplorer,
  type StartExplorerOptions,
} from "../../../dist/index.js";

export interface TestExplorer extends ExplorerAccess {
  readonly explorer: RunningExplorer;
  readonly stateFolder: string;
  /** The origin of the explorer. */
  readonly origin: string;
  /** A request of the page: with the cookie. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** `fetch`, for an answer in JSON. A failure throws its message. */
  call<Result>(path: string, init?: RequestInit & { json?: unknown }): Promise<Result>;
}

/** The returned object is filled before the first test. */
export function useExplorer(
  options: Omit<StartExplorerOptions, "stateFolder" | "port">,
): TestExplorer {
  const stateFolder = mkdtempSync(join(tmpdir(), "ledge-explorer-"));
  const used = { stateFolder } as { -readonly [Name in keyof TestExplorer]: TestExplorer[Name] };
  beforeAll(async () => {
    used.explorer = await startExplorer({ ...options, stateFolder, port: 0 });
    used.origin = new URL(used.explorer.url).origin;
    Object.assign(used, await openExplorerLink(used.explorer.url));
  });
  used.fetch = (path, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set("cookie", used.cookie);
    return fetch(`${used.address}${path}`, { ...init, headers });
  };
  used.call = async <Result>(
    path: string,
    { json, ...init }: RequestInit & { json?: unknown } = {},
  ) => {
    const body = json === undefined ? {} : { body: JSON.stringify(json) };
    const response = await used.fetch(path, { ...init, ...body });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return (text === "" ? undefined : JSON.parse(text)) as Result;
  };
  afterAll(async () => {
    await used.explorer?.close();
    rmSync(stateFolder, { recursive: true, force: true, maxRetries: 3 });
  });
  return used;
}
