/**
 * The keys of `ledge dev`, on a terminal that the command `script` of util-linux makes.
 * `vitest.config.ts` leaves this file out on machines without that command.
 */
import { describe, expect, it } from "vitest";
import { DevProcess, ledge, createProject } from "../support/dev-process.ts";

const terminal = "/usr/bin/script";

describe("ledge dev on a terminal", { timeout: 180_000 }, () => {
  it.each(["q", "\u0003"])("restarts on r, clears on c, and ends on %j", async (quit) => {
    const folder = createProject({
      "wrangler.json": { name: "greeter", main: "index.js", compatibility_date: "2026-08-01" },
      "index.js": 'export default { fetch: () => new Response("hello") };',
    });
    const command = `"${process.execPath}" "${ledge}" dev --port 0 --no-dns`;
    const dev = new DevProcess(terminal, ["-qefc", command, "/dev/null"], folder);
    const url = await dev.url();
    await dev.waitForOutput(
      /\[o\] open in a browser {2}\[r\] restart {2}\[c\] clear {2}\[q\] quit/,
    );

    dev.child.stdin?.write("r");
    await dev.waitForOutput(/^Restarted\.$/m);
    expect(await (await fetch(url)).text()).toBe("hello");

    dev.child.stdin?.write("c");
    dev.child.stdin?.write(quit);
    expect(await dev.exited).toBe(0);
    await expect(fetch(url)).rejects.toThrow("fetch failed");
  });
});
