/**
 * A process with a runtime of its own, which prints whether the runtime holds the mark and ends as its
 * arguments say: runtime-process.ts FOLDER exit|throw|wait [listen]
 */
import { join } from "node:path";
import { OwnRuntime } from "../../../src/state/own-runtime.ts";
import { isMarkHeld } from "../../../src/base/open-mark.ts";
import { markPath } from "../../../src/state/owner.ts";

const [folder = "", end, listen] = process.argv.slice(2);
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
  onListen() {},
  onOutput() {},
});
process.stdout.write(`the runtime holds the mark: ${isMarkHeld(markPath(folder))}`);
if (end === "throw") throw new Error("An error that no code catches");
if (end === "exit") process.exit();
