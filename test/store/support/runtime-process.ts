/**
 * A process with a runtime of its own, which prints the identity of the runtime and ends as its
 * arguments say: runtime-process.ts FOLDER exit|throw|wait [listen]
 */
import { join } from "node:path";
import { OwnRuntime } from "../../../src/state/own-runtime.ts";
import type { ProcessIdentity } from "../../../src/base/processes.ts";

const [folder = "", end, listen] = process.argv.slice(2);
let runtime: ProcessIdentity | undefined;
if (listen !== undefined) process.on("SIGINT", () => setTimeout(() => process.exit(0), 10));
await OwnRuntime.start({
  folder,
  config: {
    services: [
      {
        name: "main",
        worker: {
          compatibilityDate: "2026-08-01",
          modules: [{ name: "index.js", esModule: "export default {};" }],
        },
      },
    ],
    sockets: [{ name: "main", path: join(folder, "socket"), service: { name: "main" } }],
  },
  onStart: (process) => (runtime = process),
  onListen() {},
  onOutput() {},
});
process.stdout.write(JSON.stringify(runtime));
if (end === "throw") throw new Error("An error that no code catches");
if (end === "exit") process.exit();
