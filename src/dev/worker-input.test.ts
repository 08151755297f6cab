import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { NotFoundError, UserError } from "../base/user-error.ts";
import { enterEnvironment, requireScript } from "./worker-input.ts";

const here = fileURLToPath(import.meta.url);
const project = { path: "/project/wrangler.toml", folder: "/project" };
type Config = Parameters<typeof requireScript>[1];
const config = (rest: object): Config => ({ build: {}, ...rest }) as unknown as Config;

describe("requireScript()", () => {
  it("accepts a script, assets, and a script that a build command writes", () => {
    expect(() => {
      requireScript(project, config({ main: here }));
      requireScript(project, config({}), here);
      requireScript(project, config({ assets: { directory: "public" } }));
      requireScript(project, config({ main: "/none.js", build: { command: "make" } }));
    }).not.toThrow();
  });

  it.each([
    [project, config({}), undefined, UserError, /^\S+wrangler\.toml names no script: add main/],
    [{ ...project, path: null }, config({}), undefined, UserError, /make a project \(ledge init\)/],
    [
      project,
      config({ main: "/none.js" }),
      undefined,
      NotFoundError,
      /the main of \S+wrangler\.toml/,
    ],
    [
      project,
      config({ main: here }),
      "/other.js",
      NotFoundError,
      /^There is no file \/other\.js\. /,
    ],
  ])("refuses %j with %j and the script %s", (where, wrangler, script, kind, message) => {
    const act = (): void => requireScript(where, wrangler, script);
    expect(act).toThrow(kind);
    expect(act).toThrow(message);
  });

  it.each([
    [
      'import { cloudflare } from "@cloudflare/vite-plugin";',
      /\(vite\.config\.mts\).*"ledge init"/,
    ],
    ["import { ledge } from 'ledge/vite';", /Run "npx vite dev", which uses the store/],
    ['import react from "@vitejs/plugin-react";', /names no script/],
  ])("names a Vite project as such: %s", (text, message) => {
    const folder = mkdtempSync(join(tmpdir(), "ledge-vite-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "vite.config.mts"), text);
    const where = { path: join(folder, "wrangler.jsonc"), folder };
    expect(() => requireScript(where, config({}))).toThrow(message);
    const entry = config({ main: join(folder, "@framework/entry") });
    expect(() => requireScript(where, entry)).toThrow(
      text.includes("react") ? /^There is no file/ : message,
    );
  });
});

it("sets variables until the last server has stopped, and leaves those of the user", () => {
  process.env["LEDGE_TEST_USER"] = "mine";
  onTestFinished(() => void delete process.env["LEDGE_TEST_USER"]);
  const leaveFirst = enterEnvironment({ LEDGE_TEST_OURS: "first", LEDGE_TEST_USER: "ours" });
  const leaveSecond = enterEnvironment({ LEDGE_TEST_OURS: "second" });
  expect(process.env["LEDGE_TEST_OURS"]).toBe("first");
  expect(process.env["LEDGE_TEST_USER"]).toBe("mine");
  leaveFirst();
  leaveFirst();
  expect(process.env["LEDGE_TEST_OURS"]).toBe("first");
  leaveSecond();
  expect(process.env["LEDGE_TEST_OURS"]).toBeUndefined();
  expect(process.env["LEDGE_TEST_USER"]).toBe("mine");
});
