/** A process that runs our server. Arguments: a folder, the DNS port. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startDns } from "../../dist/index.js";

const [folder, port] = process.argv.slice(2) as [string, string];
const configPath = join(folder, "wrangler.json");
writeFileSync(configPath, "{}");
const dns = await startDns({ configPath, port: 0, dnsPort: Number(port), log: () => {} });
process.once("SIGTERM", () => void dns.stop().then(() => process.exit()));
process.stdout.write(`${dns.url}\n`);
