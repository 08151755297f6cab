/**
 * A process that holds faults of DNS queries, as `ledge dev --fault` does without an explorer. The
 * arguments are a state folder, the URL of the record API, and a fault. Prints the state as JSON.
 */
import { noFaults, StoreFaults } from "../../../src/explorer/server/faults.ts";
import { credentials } from "../../dns/support/client.ts";

const [folder, apiUrl, fault] = process.argv.slice(2) as [string, string, string];
const faults = new StoreFaults({
  folder,
  bucketNames: async () => [],
  dns: async () => ({ apiUrl, addresses: [], headers: credentials }),
});
const state = await faults.change({ ...noFaults, faults: [fault] });
process.stdout.write(`${JSON.stringify(state)}\n`);
// The process lives until it is killed.
setInterval(() => {}, 60_000);
