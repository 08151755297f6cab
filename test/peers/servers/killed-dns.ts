/** Our name server in a process that is killed and started again, on the same ports. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort } from "../../support/free-port.ts";
import { temporaryFolder } from "../support.ts";

const program = fileURLToPath(new URL("../../dns/support/owner-process.ts", import.meta.url));
const cli = fileURLToPath(new URL("../../../dist/cli.js", import.meta.url));

export class KilledDns {
  readonly dnsPort: number;
  readonly #port: number;
  readonly #folder = temporaryFolder();
  #child: ChildProcess | undefined;
  #url = "";

  private constructor(port: number, dnsPort: number) {
    this.#port = port;
    this.dnsPort = dnsPort;
  }

  static async start(dns: Readonly<Record<string, unknown>>): Promise<KilledDns> {
    // Clients and peers find the server at the same ports after a kill.
    const server = new KilledDns(await freePort(), await freePort());
    const configuration = JSON.stringify({ name: "dns", dns });
    writeFileSync(join(server.#folder, "wrangler.json"), configuration);
    await server.restart();
    return server;
  }

  get url(): string {
    return this.#url;
  }

  /** Leaves the runtime, which the next start ends. */
  kill(): Promise<void> {
    return this.#end("SIGKILL");
  }

  /** Leaves nothing. */
  stop(): Promise<void> {
    return this.#end("SIGTERM");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }

  /** A command of `ledge dns` in the folder of this server. */
  async command(...words: string[]): Promise<void> {
    const args = [cli, "dns", ...words];
    await promisify(execFile)(process.execPath, args, { cwd: this.#folder });
  }

  /** After a kill or a stop. Ends when the server answers. */
  async restart(): Promise<void> {
    const child = spawn(
      process.execPath,
      [program, this.#folder, String(this.#port), String(this.dnsPort)],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    this.#child = child;
    const [line] = (await Promise.race([
      once(child.stdout, "data"),
      once(child, "exit").then(([code]) => {
        throw new Error(`The name server ended with code ${String(code)} instead of starting.`);
      }),
    ])) as [Buffer];
    this.#url = line.toString().trim();
  }
}
