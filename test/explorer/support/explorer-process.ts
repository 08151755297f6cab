/** A process with an explorer on a state folder, the argument. Prints the URL of the explorer. */
import { startExplorer } from "../../../dist/index.js";

const [stateFolder] = process.argv.slice(2) as [string];
const explorer = await startExplorer({ stateFolder, buckets: ["photos"], port: 0 });
process.stdout.write(`${explorer.url}\n`);
