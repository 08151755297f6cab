/** Ports that a test names and that no other process gets by asking for port 0. */
import { randomInt } from "node:crypto";
import { isPortFree } from "../../src/base/ports.ts";

/** Systems give ports from 32768 or 49152 on to those who ask for any port. */
const firstPort = 20_000;
const endPort = 32_768;

/** A port that stays free while the test starts a server there, ends it and starts it again. */
export async function fixedPort(): Promise<string> {
  for (;;) {
    const port = randomInt(firstPort, endPort);
    if (await isPortFree(port, "127.0.0.1")) return String(port);
  }
}
