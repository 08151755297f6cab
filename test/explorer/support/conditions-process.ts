/**
 * A process that holds faults of DNS queries, as `ledge dev --fault` does without an explorer. The
 * arguments are a state folder, the URL of the record API, and a fault. Prints the state as JSON.
 */
import { StoreConditions } from "../../../src/explorer/server/store-conditions.ts";
import { conditionsOfFaults } from "../../../src/explorer/server/wanted-conditions.ts";
import { credentials } from "../../dns/support/client.ts";

const [folder, apiUrl, fault] = process.argv.slice(2) as [string, string, string];
const conditions = new StoreConditions({
  folder,
  bucketNames: async () => [],
  dns: async () => ({ apiUrl, addresses: [], headers: credentials }),
});
const state = await conditions.change(conditionsOfFaults([fault]));
process.stdout.write(`${JSON.stringify(state)}\n`);
// The process lives until it is killed.
setInterval(() => {}, 60_000);
