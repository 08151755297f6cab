/** A server in a process of its own, so that it can be killed. Arguments: the folder. */
import { startServer } from "./server.ts";

const server = await startServer({ folder: process.argv[2]! });
process.stdout.write(`${server.url}\n`);
