/**
 * Saves the bytecode of wrangler and Miniflare, as the first dev server does that lives a second: most dev servers
 * of tests end earlier. Bytecode that is there stays: a dev server replaces the bytecode of another wrangler.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startDev } from "../dist/index.js";

const { version, arch } = process;
const name = `wrangler-cli-${version}-${arch}.bin`;
const bytecode = new URL(`../node_modules/.cache/ledge/${name}`, import.meta.url);
/** A dev server waits for a change where it cannot start, and does not say that a folder cannot be written. */
const waitMilliseconds = 20_000;

async function save(folder: string): Promise<void> {
  const configuration = { name: "bytecode", main: "index.js", compatibility_date: "2026-08-01" };
  writeFileSync(join(folder, "wrangler.json"), JSON.stringify(configuration));
  writeFileSync(join(folder, "index.js"), "export default { fetch: () => new Response() };");
  const parts = { s3: false, explorer: false, dns: false };
  const dev = await startDev({ folder, port: 0, ...parts, log: () => {}, logLevel: "none" });
  // The bytecode has the functions that have run.
  void dev.ready.then(() => fetch(dev.url));
  const end = Date.now() + waitMilliseconds;
  while (!existsSync(bytecode) && Date.now() < end) await delay(50);
  await dev.stop();
  if (!existsSync(bytecode)) throw new Error(`there is no ${bytecode.pathname}`);
}

if (!existsSync(bytecode)) {
  const folder = mkdtempSync(join(tmpdir(), "ledge-bytecode-"));
  // Without bytecode, everything works and starts more slowly.
  await save(folder).catch((error: Error) =>
    console.warn(`The bytecode of wrangler is not saved: ${error.message}`),
  );
  rmSync(folder, { recursive: true, force: true });
  // A server that did not start may have left handles.
  process.exit();
}
