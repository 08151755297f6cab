/**
 * Saves or restores, and kills itself before the change of a file with the given number.
 *
 *     node killed-program.ts STATE_FOLDER save|restore|delete NAME NUMBER
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { FolderState } from "../../../src/saved/folder-state.ts";

const [, , folder = "", action = "", name = "", number = ""] = process.argv;
const changes = [
  "linkSync",
  "copyFileSync",
  "renameSync",
  "rmSync",
  "truncateSync",
  "writeFileSync",
] as const;
let left = 0;

for (const change of changes) {
  const original = fs[change] as (...args: unknown[]) => unknown;
  Object.assign(fs, {
    [change](...args: unknown[]) {
      if (left > 0 && --left === 0) process.kill(process.pid, "SIGKILL");
      return original(...args);
    },
  });
}
syncBuiltinESMExports();

left = Number(number);
const state = new FolderState(folder);
if (action === "save") await state.save(name, { replace: true });
else if (action === "restore") await state.restore(name);
else await state.delete(name);
