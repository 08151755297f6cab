/** examples/photos by its name, in any browser and in the one that `ledge open` starts. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type Browser, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDev, type RunningDev } from "../../dist/index.js";
import { ledge } from "../support/dev-process.ts";
import { argumentsOf, hasProc, isSameProcessAlive, processTree } from "../support/processes.ts";
import { useBrowser } from "./support/browser.ts";
import { findChromium } from "./support/chromium.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const base = mkdtempSync(join(tmpdir(), "ledge-browser-edge-"));
const folder = join(base, "photos");
const name = "photos.example.com";

let dev: RunningDev;
beforeAll(async () => {
  for (const part of ["photos", "http"]) {
    cpSync(join(root, "examples", part), join(base, part), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir");
  const path = join(folder, "wrangler.jsonc");
  const routes = `"routes": ["${name}/*"], "dns": { "https_port": 0 },`;
  writeFileSync(path, readFileSync(path, "utf8").replace("{", `{ ${routes}`));
  const ports = { port: 0, s3Port: 0, explorerPort: 0, dnsPort: 0, dnsApiPort: 0 };
  dev = await startDev({ configPath: path, ...ports, logLevel: "none", log() {} });
  await dev.ready;
});
afterAll(async () => {
  await dev?.stop();
  rmSync(base, { recursive: true, force: true, maxRetries: 3 });
});

const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Puts a photo into the bucket by the page, and waits until the page shows it. */
async function addPhoto(page: Page, file: string): Promise<void> {
  await page.getByRole("heading", { name: "Photos", exact: true }).waitFor();
  // Before this event, the script of the page does not hear of files.
  await page.waitForLoadState();
  await page
    .locator("#picker")
    .setInputFiles({ name: file, mimeType: "image/png", buffer: picture });
  await page.getByRole("list", { name: "Folders and photos" }).getByText(file).waitFor();
}

const browser = useBrowser();

it("the page of the example works by its name below localhost", async () => {
  const page = await browser.open(`http://${name}.localhost:${new URL(dev.url).port}/`);
  await addPhoto(page, "by-name.png");
  expect(await page.title()).toBe("Photos");
});

describe("ledge open", () => {
  let command: ChildProcess;
  let opened: Browser;
  beforeAll(async () => {
    const program = join(folder, "browser.sh");
    const words = '--headless --remote-debugging-port=0 "$@"';
    writeFileSync(program, `#!/bin/sh\nexec '${findChromium()}' ${words}\n`);
    chmodSync(program, 0o755);
    command = spawn(process.execPath, [ledge, "open", name, "--browser", program], {
      cwd: folder,
      stdio: ["ignore", "inherit", "pipe"],
    });
    let error = "";
    const address = await new Promise<string>((resolve, reject) => {
      command.stderr?.on("data", (piece: Buffer) => {
        error += piece.toString();
        const [, found] = /DevTools listening on (\S+)/.exec(error) ?? [];
        if (found !== undefined) resolve(found);
      });
      command.once("exit", () => reject(new Error(error)));
    });
    opened = await chromium.connectOverCDP(address);
  });
  afterAll(() => void command?.kill("SIGKILL"));

  it("shows the page by https without a warning", async () => {
    const page = opened.contexts()[0]?.pages()[0] as Page;
    await addPhoto(page, "by-https.png");
    expect(page.url()).toBe(`https://${name}/`);
    expect(await page.evaluate(() => isSecureContext)).toBe(true);
    const response = await page.goto(`http://${name}/`);
    expect([response?.status(), page.url()]).toEqual([200, `http://${name}/`]);
    const again = await page.goto(`https://${name}/?again`);
    expect((await again?.securityDetails())?.issuer).toMatch(/^Ledge local authority /);
  });

  it("has no certificate for a name that leads nowhere", async () => {
    const page = (await opened.contexts()[0]?.newPage()) as Page;
    await expect(page.goto("https://other.invalid/")).rejects.toThrow(/ERR_/);
  });

  it.skipIf(!hasProc)("ends with an interrupt, with all processes and the profile", async () => {
    const processes = processTree(command.pid as number);
    const words = processes.flatMap(({ processId }) => argumentsOf(processId));
    const option = "--user-data-dir=";
    const profile = words.find((word) => word.startsWith(option))?.slice(option.length) as string;
    expect([processes.length > 2, existsSync(profile)]).toEqual([true, true]);
    command.kill("SIGINT");
    await once(command, "exit");
    await expect.poll(() => processes.filter(isSameProcessAlive)).toEqual([]);
    expect(existsSync(profile)).toBe(false);
  });
});
