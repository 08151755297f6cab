/** A process that runs DNS with a small zone, and prints its port. */
import { startTestDns } from "./running-dns.ts";

const records = [
  { type: "A", name: "www", content: "192.0.2.1", ttl: 60 },
  { type: "CNAME", name: "alias", content: "www.example.org", ttl: 60 },
  { type: "TXT", name: "text", content: "text", ttl: 60 },
  { type: "A", name: "*.wild", content: "192.0.2.2", ttl: 60 },
  { type: "NS", name: "child", content: "ns.child.example.org", ttl: 60 },
];
const listening = await startTestDns({ zones: [{ name: "example.org", records }] });
process.once("SIGTERM", () => void listening.stop().then(() => process.exit()));
process.stdout.write(`${listening.port}\n`);
