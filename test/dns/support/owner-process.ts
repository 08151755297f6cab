/**
 * A process that runs DNS for the project in a folder, and prints the URL of its API. Arguments: the
 * folder, and the ports of the API and of DNS if they must be known.
 */
import { join } from "node:path";
import { startDns } from "../../../dist/index.js";

const [folder, port = "0", dnsPort = "0"] = process.argv.slice(2) as [string, string?, string?];
const dns = await startDns({
  configPath: join(folder, "wrangler.json"),
  port: Number(port),
  dnsPort: Number(dnsPort),
  log: () => {},
});
process.once("SIGTERM", () => void dns.stop().then(() => process.exit()));
process.stdout.write(`${dns.url}\n`);
