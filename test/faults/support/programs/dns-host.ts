/**
 * A process with `startDns()` on the project in a folder. The program loads the package, waits for a
 * line, starts, and prints the address of the record API and the DNS port.
 */
import { once } from "node:events";
import { join } from "node:path";
import { startDns } from "../../../../dist/index.js";

const configPath = join(process.argv[2] as string, "wrangler.json");
console.log("loaded");
await once(process.stdin, "data");
const { url, dnsPort } = await startDns({ configPath, port: 0, dnsPort: 0, log: () => {} });
console.log(`url ${url} ${dnsPort}`);
