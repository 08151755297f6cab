/** A process that runs DNS for the project in a folder, and prints the URL of its API. */
import { join } from "node:path";
import { startDns } from "../../../dist/index.js";

const configPath = join(process.argv[2] as string, "wrangler.json");
const { url } = await startDns({ configPath, port: 0, dnsPort: 0, log: () => {} });
process.stdout.write(`${url}\n`);
