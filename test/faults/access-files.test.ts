/** What the state of a project and the output of commands give away: file modes and secrets. */
import { lstatSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { startTestDns } from "../dns/support/running-dns.ts";
import { createProject, ledgeDev, waitOptions } from "../support/dev-process.ts";
import { runInProcess } from "../support/in-process-command.ts";
import { startStore, temporaryFolder } from "../support/store.ts";
import { run } from "../support/project.ts";
import { argumentsOf, hasProc, processTreeIds } from "../support/processes.ts";

const hasModes = process.platform !== "win32";

/** All entries below a folder, and the folder. */
function entries(folder: string): string[] {
  const below = readdirSync(folder, { recursive: true }) as string[];
  return [folder, ...below.map((name) => join(folder, name))];
}

/** The entries that other users may use, with their modes. */
function openToOthers(folder: string): string[] {
  return entries(folder).flatMap((path) => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    // The folder of a socket keeps others out. They may not write to the socket either.
    const closed = found?.isSocket() === true ? 0o022 : 0o077;
    const mode = found?.mode ?? 0;
    return (mode & closed) === 0 ? [] : [`${(mode & 0o777).toString(8)} ${path}`];
  });
}

function isPartial(path: string): boolean {
  // Versions of workerd name such files in two ways.
  return /\.(?:partial|tmp)$/.test(path);
}

/** A secret that the test searches for. */
function canary(name: string): string {
  return `canary-${name}-0123456789`;
}

const script = `
const part = new Uint8Array(5 * 1024 ** 2);
export default {
  async fetch(request, { PHOTOS }) {
    const { pathname } = new URL(request.url);
    if (request.method === "PUT") {
      await PHOTOS.put(pathname, request.body);
    } else {
      await PHOTOS.put("inline", "value");
      await PHOTOS.put("file", part);
      const whole = await PHOTOS.createMultipartUpload("whole");
      await whole.complete([await whole.uploadPart(1, part)]);
      await (await PHOTOS.createMultipartUpload("never completed")).uploadPart(1, part);
    }
    return new Response("done");
  },
};`;

const project = {
  name: "script",
  main: "index.js",
  compatibility_date: "2026-08-01",
  store_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
};

test.skipIf(!hasModes)(
  "all state is private to the user, and the user's own files are not",
  async () => {
    const build = { command: "node make.cjs", watch_dir: "source" };
    const folder = createProject({
      "wrangler.json": { ...project, build, dns: { zones: [{ name: "example.org" }] } },
      "index.js": script,
      "source/index.js": "",
      "make.cjs": `require("node:fs").writeFileSync("built.txt", "")`,
    });
    const dev = ledgeDev(folder);
    const url = await dev.url();
    expect(await (await fetch(url)).text()).toBe("done");
    // A put whose content has arrived in part.
    const { hostname, port } = new URL(url);
    const slow = connect({ host: hostname, port: Number(port) });
    onTestFinished(() => void slow.destroy());
    slow.write("PUT /slow HTTP/1.1\r\nhost: localhost\r\ncontent-length: 900000\r\n\r\n");
    slow.write(Buffer.alloc(500_000));
    const state = join(folder, ".wrangler/state/v3");
    await vi.waitFor(() => expect(entries(state).filter(isPartial)).not.toEqual([]), waitOptions);

    const store = entries(join(state, "store"));
    const dns = entries(join(state, "dns"));
    expect(store.filter((path) => /databases.*\.sqlite/.test(path))).not.toEqual([]);
    expect(store.filter((path) => /blobs.photos./.test(path)).length).toBeGreaterThanOrEqual(3);
    expect(dns.filter((path) => path.endsWith(".sqlite"))).not.toEqual([]);
    expect(openToOthers(join(state, "store"))).toEqual([]);
    expect(openToOthers(join(state, "dns"))).toEqual([]);
    expect(openToOthers(join(state, "edge"))).toEqual([]);

    writeFileSync(join(folder, "own.txt"), "");
    const { mode } = statSync(join(folder, "own.txt"));
    expect(statSync(join(folder, "built.txt")).mode).toBe(mode);
  },
);

test.skipIf(!hasModes)("a folder of state that is open to others is closed", async () => {
  const folder = temporaryFolder();
  const persist = join(folder, "v3");
  const both = [join(persist, "store"), join(persist, "dns")];
  for (const path of both) mkdirSync(path, { recursive: true, mode: 0o755 });
  await startStore(persist);
  const dns = await startTestDns({}, { folder, persistTo: folder });
  onTestFinished(dns.stop);
  expect(both.map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700]);
});

test("secrets are in no output and in no arguments", async () => {
  const tsig = Buffer.from(canary("tsig")).toString("base64");
  const folder = createProject({
    "wrangler.json": {
      ...project,
      dns: {
        binding: "DNS",
        tokens: [{ token: canary("token") }],
        keys: [{ name: "to-secondary", secret: tsig }],
      },
    },
    ".dev.vars": `DNS_KEY=${canary("key")}\nDNS_TOKENS=[{"token":"${canary("own-token")}"}]\n`,
    "index.js": script,
  });
  const texts: string[] = [];
  const dev = ledgeDev(folder, "--log-level", "log");
  await dev.url();
  await dev.waitForOutput(/^ {2}key +DNS_KEY of your secrets file$/m);
  if (hasProc) texts.push(...processTreeIds(dev.pid).map((pid) => argumentsOf(pid).join(" ")));
  const commands = [
    ["dns", "zones"],
    ["dns", "zones", "--json"],
    ["dns", "add", "nothing.test", "www", "A", "192.0.2.1"],
    ["dns", "zones", "--key", "another-key-0123456789"],
    ["dns", "dig", "www.example.org"],
    ["store", "buckets", "--json"],
  ];
  for (const words of commands) {
    const { out, error } = await runInProcess(folder, words);
    texts.push(out, error);
  }
  expect(await dev.end()).toBe(0);
  // Without a dev server a command starts DNS itself; then the files have mistakes.
  texts.push((await run(folder, "ledge", "dns", "zones")).out);
  writeFileSync(
    join(folder, ".dev.vars"),
    `DNS_KEY=${canary("key")} %\nDNS_TOKENS=["${canary("own")}\n`,
  );
  const mistaken = await run(folder, "ledge", "dns", "zones");
  expect(mistaken.error).toContain(".dev.vars: DNS_KEY must have");
  texts.push(mistaken.out, mistaken.error, dev.output);
  const found = texts.join("\n").match(/.*(?:canary-|Y2FuYXJ5).*/g);
  expect(found).toBeNull();
});
