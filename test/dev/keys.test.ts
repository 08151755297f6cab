/**
 * The keys of `ledge dev`, on a terminal that the command `script` of util-linux makes.
 * `vitest.config.ts` leaves this file out on machines without that command.
 */
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { DevProcess, ledge, createProject, waitOptions, write } from "../support/dev-process.ts";

const terminal = "/usr/bin/script";
const hello = 'export default { fetch: () => new Response("hello") };';

function startOnTerminal(script = hello): { dev: DevProcess; path: string } {
  const folder = createProject({
    "wrangler.json": {
      name: "greeter",
      main: "index.js",
      compatibility_date: "2026-08-01",
      vars: { GREETING: "hello" },
    },
    "index.js": script,
  });
  const command = `"${process.execPath}" "${ledge}" dev --port 0 --no-dns`;
  const dev = new DevProcess(terminal, ["-qefc", command, "/dev/null"], folder);
  return { dev, path: join(folder, "index.js") };
}

const keysLine =
  /^\[b\] open a browser\s+\[e\] open the explorer\s+\[r\] restart\s+\[c\] clear console\s+\[x\] to exit$/m;

describe("ledge dev on a terminal", { timeout: 180_000 }, () => {
  it('has wrangler\'s keys and its own, and ends on "x"', async () => {
    const { dev } = startOnTerminal();
    const url = await dev.url();
    await dev.waitForOutput(keysLine);

    dev.child.stdin?.write("r");
    await dev.waitForOutput(/^Restarted\.$/m);
    expect(await (await fetch(url)).text()).toBe("hello");

    const since = dev.output.length;
    dev.child.stdin?.write("c");
    await dev.waitForOutput(keysLine, since);
    const redrawn = dev.output.slice(since);
    expect(redrawn).toContain(`Ready      ${url}\n`);
    expect(redrawn).toMatch(/^env\.GREETING \("hello"\) {2}Environment Variable {2}local$/m);

    for (const [key, answer] of [
      ["t", /^`ledge dev` has no tunnel/m],
      ["d", /^There is no inspector/m],
      ["z", /^\[z\] has no meaning here\./m],
    ] as const) {
      dev.child.stdin?.write(key);
      await dev.waitForOutput(answer);
    }

    dev.child.stdin?.write("x");
    expect(await dev.exited).toBe(0);
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });

  it("waits for a source after a first build that failed, and ends on Ctrl+C meanwhile", async () => {
    const { dev, path } = startOnTerminal("this is no script");
    await dev.waitForOutput(/^Waiting for a change\.$/m);
    // A program that logs in the folder.
    for (let line = 0; line < 20; line++) {
      write(join(dirname(path), "server.log"), `${line}`);
      await delay(20);
    }
    write(path, "const x = ;");
    await dev.waitForOutput(/Unexpected ";"[^]*^Waiting for a change\.$/m);
    expect(dev.output.match(/^Waiting for a change\.$/gm)).toHaveLength(2);
    dev.child.stdin?.write("\u0003");
    expect(await dev.exited).toBe(130);
  });

  it("waits for a change after it has shown the error, and ends on Ctrl+C", async () => {
    const { dev, path } = startOnTerminal("this is no script");
    await dev.waitForOutput(/Expected ";"[^]*^Waiting for a change\.$/m);
    write(path, hello);
    const url = await dev.url();

    let since = dev.output.length;
    write(path, "this is no script either");
    await dev.waitForOutput(/Expected ";"[^]*^Waiting for a change\.$/m, since);
    expect(dev.output.slice(since).match(/^Waiting for a change\.$/gm)).toHaveLength(1);

    since = dev.output.length;
    write(path, `throw new Error("at the start");\n${hello}`);
    await dev.waitForOutput(/at the start[^]*^Waiting for a change\.$/m, since);

    write(path, hello);
    await vi.waitFor(
      async () => expect(await (await fetch(url)).text()).toBe("hello"),
      waitOptions,
    );
    dev.child.stdin?.write("\u0003");
    expect(await dev.exited).toBe(130);
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });
});
