/**
 * Freezes the runtimes of a folder, as a save or a restore does, and stays there until it is killed.
 *
 *     node freeze-program.ts STATE_FOLDER frozen|aside|journal
 */
import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import { persistPath } from "../../../src/state/folder.ts";
import { freeze, findRuntimes } from "../../../src/saved/runtimes.ts";
import { holdStarts, type Journal } from "../../../src/saved/journal.ts";
import { Restoration } from "../../../src/saved/restoration.ts";
import { journalPath } from "../../../src/saved/saved-record.ts";
import { SavedStates } from "../../../src/saved/saved-states.ts";

const [, , folder = "", step] = process.argv;
const restoration = await Restoration.begin(folder, new SavedStates(folder).find("one"));
await holdStarts(folder);
freeze(findRuntimes(folder), journalPath(folder));
const v3 = persistPath(folder);
const open = restoration.databases.filter(({ isOpen }) => isOpen);
if (step === "aside") restoration.setAside(open.map(({ path }) => relative(v3, path)));
const journal: Journal = { name: "one", removedValues: [] };
if (step === "journal") writeFileSync(journalPath(folder), JSON.stringify(journal));
console.log(step);
setInterval(() => {}, 1000);
