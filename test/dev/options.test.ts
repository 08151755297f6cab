/** Options of `ledge dev` that wrangler's dev server has, too. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { experimental_getWranglerCommands } from "wrangler";
import { optionsOf } from "../../src/cli/command.ts";
import { dev as devCommand } from "../../src/cli/dev.ts";
import {
  createProject,
  DevProcess,
  ledge,
  ledgeDev,
  waitForAnswer,
  write,
} from "../support/dev-process.ts";
import { runInProcess } from "../support/in-process-command.ts";

const configuration = {
  name: "options",
  main: "index.js",
  compatibility_date: "2026-08-01",
  define: { KEPT: '"configured"', REPLACED: '"configured"' },
  vars: { COLOUR: "configured", SIZE: "configured" },
};

const script = `
  let scheduled = null;
  export default {
    async fetch(request, env) {
      const { hostname, pathname } = new URL(request.url);
      if (pathname === "/page") {
        return new Response("<html><body>page</body></html>", { headers: { "content-type": "text/html" } });
      }
      return Response.json({
        hostname,
        scheduled,
        define: [KEPT, REPLACED],
        vars: [env.COLOUR, env.SIZE, env.SECRET, env.IGNORED ?? null],
        // Since 2022-03-21.
        hasNavigator: typeof navigator === "object",
      });
    },
    async scheduled({ cron }) { scheduled = cron; },
  };`;

describe("ledge dev", () => {
  it("has --adopt, --host, --live-reload, --test-scheduled, --env-file, --compatibility-date, --var and --define", async () => {
    const folder = createProject({
      "wrangler.json": {
        ...configuration,
        r2_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
      },
      // As `wrangler dev` leaves an object.
      ".wrangler/state/v3/r2/photos/blobs/0123": "red",
      "index.js": script,
      ".dev.vars": "IGNORED=yes\nSECRET=ignored",
      "secrets/first.env": "SECRET=first\nSIZE=first",
      "secrets/second.env": "SECRET=second",
    });
    const envFiles = ["--env-file", "secrets/first.env", "--env-file=secrets/second.env"];
    const words =
      "--adopt --no-dns --host shop.example.com --live-reload --test-scheduled --var COLOUR:red";
    const build = ["--define", 'REPLACED:"replaced"', "--compatibility-date", "2021-11-02"];
    const dev = ledgeDev(folder, ...words.split(" "), ...envFiles, ...build);
    const url = await dev.url();
    expect(dev.output).toContain(
      "wrangler's simulator has objects of photos in .wrangler/state/v3/r2, which the store does not " +
        'serve. "ledge init --copy-objects" copies those that the store lacks.\n',
    );
    const answer = {
      hostname: "shop.example.com",
      scheduled: null as string | null,
      define: ["configured", "replaced"],
      vars: ["red", "first", "second", null],
      hasNavigator: false,
    };
    await waitForAnswer(url, answer);
    const page = await fetch(`${url}/page`);
    expect(await page.text()).toContain('<script defer type="application/javascript">');

    expect((await fetch(`${url}/__scheduled?cron=5+*+*+*+*`)).status).toBe(200);
    await waitForAnswer(url, { ...answer, scheduled: "5 * * * *" });

    write(join(folder, "secrets/second.env"), "SECRET=changed");
    await waitForAnswer(url, { ...answer, vars: ["red", "first", "changed", null] });
    expect(await dev.end()).toBe(0);
  });

  it("says which file of --env-file is missing, before Node does", async () => {
    const folder = createProject({ "wrangler.json": configuration, "index.js": script });
    // The program itself: its first line keeps Node from the options of the program.
    const child = spawn(ledge, ["dev", "--no-dns", "--env-file", "none.env"], { cwd: folder });
    let errors = "";
    child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
    const [code] = (await once(child, "close")) as [number];
    expect({ code, errors }).toEqual({ code: 3, errors: "There is no file none.env.\n" });
  });

  it("passes the options of a build and of addresses on", async () => {
    const folder = createProject({
      "wrangler.json": {
        ...configuration,
        routes: ["shop.example.com/*"],
        minify: true,
        r2_buckets: [{ binding: "PHOTOS", bucket_name: "photos" }],
      },
      "app/index.jsx": `
        import { kind } from "module";
        import { flag } from "path-of-tsconfig";
        import { env } from "cloudflare:workers";
        const element = (tag, props, ...children) => tag + children.join("");
        export default {
          async fetch(request) {
            const { protocol, hostname, pathname } = new URL(request.url);
            if (pathname === "/asset") return env.ASSETS.fetch(request);
            function thisIsNotMinified() {}
            return Response.json({
              protocol, hostname, kind, flag, jsx: <b>hi</b>,
              source: thisIsNotMinified.toString(),
              isNode: typeof process === "object" && typeof process.versions === "object",
            });
          },
        };`,
      "app/real.js": "export const kind = 'replaced';",
      "app/tsconfig.custom.json": {
        compilerOptions: { paths: { "path-of-tsconfig": ["./flag.js"] } },
      },
      "app/flag.js": "export const flag = 'by tsconfig';",
      "public/hello.txt": "hello",
    });
    const words =
      "--cwd app index.jsx --name other --no-minify --alias module:./real.js --tsconfig tsconfig.custom.json " +
      "--jsx-factory element --assets ../public --compatibility-flag nodejs_compat " +
      "--upstream-protocol https --route store.example.com/* --no-dns --no-live-reload -l";
    const dev = ledgeDev(folder, ...words.split(" "));
    const url = await dev.url();
    await waitForAnswer(url, {
      protocol: "https:",
      hostname: "store.example.com",
      kind: "replaced",
      flag: "by tsconfig",
      jsx: "bhi",
      source: expect.stringContaining("thisIsNotMinified") as string,
      isNode: true,
    });
    expect(await (await fetch(`${url}/hello.txt`)).text()).toBe("hello");
    expect(dev.output).toContain(
      'wrangler\'s simulator serves PHOTOS of r2_buckets. "ledge dev --adopt" serves them by the store, and ' +
        '"ledge init" makes that the project\'s choice.\n',
    );
    expect(await dev.end()).toBe(0);
  });

  it("has every option of wrangler dev, or says why not", async () => {
    const { registry, globalFlags } = experimental_getWranglerCommands();
    type Options = Record<string, { alias?: string | readonly string[]; describe?: unknown }>;
    const definition = registry.subtree.get("dev")?.definition as { args?: Options } | undefined;
    const options: Options = { ...globalFlags, ...definition?.args };
    const names = Object.entries(options).flatMap(([name, { alias = [] }]) =>
      [name, ...[alias].flat()].map((each) => (each.length === 1 ? `-${each}` : `--${each}`)),
    );
    expect(names.length).toBeGreaterThan(50);
    const own = optionsOf(devCommand).flatMap(({ name, short }) => [`--${name}`, `-${short}`]);
    const others = Object.keys(devCommand.wranglerOptions ?? {}).flatMap((each) =>
      each.split(", "),
    );
    // The script is an argument, and --no-bundle belongs to --bundle.
    const known = new Set([...own, ...others, "--script", "--no-bundle"]);
    expect(names.filter((name) => !known.has(name))).toEqual([]);
  });

  it.each([
    [
      ["--remote"],
      2,
      "wrangler has --remote, Ledge does not, because the script always runs on this",
    ],
    [["-r"], 2, "wrangler has -r, Ledge does not"],
    [["--tunnel-name=x"], 2, "wrangler has --tunnel-name, Ledge does not, because a tunnel needs"],
    [["--x-provision"], 2, "wrangler has --x-provision, Ledge does not"],
    [["--minify=maybe"], 2, '--minify must be true or false, not "maybe".'],
    [["--compatibility-date", "soon"], 1, 'The compatibility date "soon" is not a date'],
    [["--define", "X"], 2, '--define must be NAME:VALUE, not "X".'],
    [["none.js"], 3, "There is no file none.js."],
    [["--config", "none.json"], 3, "No configuration file exists at"],
    [["--config", "empty.json"], 1, "empty.json names no script: add main"],
  ])("refuses %j with exit code %i", async (words, code, message) => {
    const folder = createProject({
      "wrangler.json": configuration,
      "empty.json": { name: "empty", compatibility_date: "2026-08-01" },
      "index.js": script,
    });
    const ran = await runInProcess(folder, ["dev", "--port", "0", "--no-dns", ...words]);
    expect(ran).toMatchObject({ code, out: "", error: expect.stringContaining(message) });
    expect(ran.error).not.toMatch(/wrangler dev(?! --remote)|^ +at /m);
  });

  it("shows a failed build without colours in a pipe", async () => {
    const folder = createProject({ "wrangler.json": configuration, "index.js": script });
    const dev = new DevProcess(
      process.execPath,
      [ledge, "dev", "--port", "0", "--no-dns"],
      folder,
      {
        NO_COLOR: "",
      },
    );
    let raw = "";
    dev.child.stderr?.on("data", (chunk: Buffer) => (raw += chunk.toString()));
    await dev.url();
    write(join(folder, "index.js"), "const x = ;");
    await dev.waitForOutput(/Unexpected ";"/);
    expect(raw).toContain('Unexpected ";"');
    expect(raw).not.toContain("\u001b");
  });
});
