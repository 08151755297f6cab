/**
 * The record API over https, for clients that speak nothing else: `api-port.ts` with a certificate
 * of the folder's authority (`tls/authority.ts`). A server that runs for months renews its
 * certificate by itself.
 */
import { join } from "node:path";
import { isPortFree } from "../../base/ports.ts";
import { makePrivateFolder } from "../../base/private-files.ts";
import { Authority } from "../../tls/authority.ts";
import { ApiPort } from "./api-port.ts";
import { httpsSocketPath } from "./companion.ts";

interface HttpsPortOptions {
  /** The folder of the zones. */
  readonly folder: string;
  /** Names besides loopback. */
  readonly names: readonly string[];
  readonly host: string;
  /** 0 for any. */
  readonly port: number;
  readonly log: (text: string) => void;
}

/** A machine that sleeps misses a timer, so the time is compared now and then. */
const checkMilliseconds = 3_600_000;

/** The authority in the folder of the zones, which a command may be the first to use. */
export function openAuthority(folder: string, names: readonly string[]): Authority {
  makePrivateFolder(folder);
  return Authority.open(join(folder, "https"), names, new Date());
}

export class HttpsPort {
  /** Of the API, with `/client/v4`. */
  readonly url: string;
  readonly port: number;
  readonly #port: ApiPort;
  readonly #timer: NodeJS.Timeout;

  private constructor(port: ApiPort, timer: NodeJS.Timeout) {
    this.#port = port;
    this.#timer = timer;
    this.port = port.port;
    this.url = `https://localhost:${port.port}/client/v4`;
  }

  static async open({ folder, names, host, port, log }: HttpsPortOptions): Promise<HttpsPort> {
    const authority = openAuthority(folder, names);
    if (authority.isReplacement) {
      log(
        "The authority of https was made again, because its names have changed or its time ends. " +
          "Trust the new one: ledge dns trust.",
      );
    }
    let identity = authority.certify(names, new Date());
    const problem = await portProblem(port, host);
    if (problem !== null) log(`Port ${port} ${problem}: https of the DNS API uses another port.`);
    const opened = await ApiPort.open({
      host,
      port: problem === null ? port : 0,
      target: httpsSocketPath(folder),
      identity,
    });
    const timer = setInterval(() => {
      const now = new Date();
      if (now < identity.renewFrom) return;
      identity = authority.certify(names, now);
      opened.renew(identity);
    }, checkMilliseconds);
    timer.unref();
    return new HttpsPort(opened, timer);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#port.close();
  }
}

/** Why the port cannot be opened; `null` if it can. */
async function portProblem(port: number, host: string): Promise<string | null> {
  try {
    return (await isPortFree(port, host)) ? null : "is taken";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "EACCES" ? "needs special rights" : `cannot be opened (${code})`;
  }
}
