/** A process that runs a server and can be killed. Argument: the folder. */
import { startServer } from "./server.ts";

const server = await startServer({ folder: process.argv[2]! });
process.stdout.write(`${server.url}\n`);
