/**
 * Saves or restores beside the runtimes of a folder, without the dev server.
 *
 *     node folder-program.ts STATE_FOLDER save|restore NAME
 */
import { FolderState } from "../../../src/saved/folder-state.ts";

const [, , folder = "", action = "", name = ""] = process.argv;
const state = new FolderState(folder);
await (action === "save" ? state.save(name) : state.restore(name));
