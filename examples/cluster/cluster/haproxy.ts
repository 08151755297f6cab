/** HAProxy in the place of the example's own load balancer, on a machine that has it. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Balancer } from "./balancer.ts";

const template = new URL("../haproxy.cfg", import.meta.url);

export function hasHaproxy(): boolean {
  try {
    execFileSync("haproxy", ["-v"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** The configuration with these addresses. */
export function haproxyConfig(targets: readonly string[], port: number): string {
  const servers = targets.map(
    (target, index) => ` server edge-${index + 1} ${target.slice("http://".length)}`,
  );
  return readFileSync(template, "utf8")
    .replace("bind 127.0.0.1:8080", `bind 127.0.0.1:${port}`)
    .replace(/ server edge-\d \S+/g, () => servers.shift() ?? "");
}

/** Returns when HAProxy answers. */
export async function startHaproxy(
  targets: readonly string[],
  port: number,
  folder: string,
): Promise<Balancer> {
  const path = join(folder, "haproxy.cfg");
  writeFileSync(path, haproxyConfig(targets, port));
  const child = spawn("haproxy", ["-db", "-q", "-f", path], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  const ended = once(child, "exit");
  const origin = `http://127.0.0.1:${port}`;
  const isUp = async (): Promise<boolean> =>
    fetch(`${origin}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isUp())) {
    if (child.exitCode !== null) throw new Error(`HAProxy ended: is port ${port} in use?`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    origin,
    async close() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
