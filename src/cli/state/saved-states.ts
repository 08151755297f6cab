/** `ledge state save`, `restore`, `reset`, `list`, `delete` and `diff`: the states that the project has saved. */
import { counted, formatBytes, formatTable } from "../../base/format.ts";
import { NotFoundError } from "../../base/user-error.ts";
import { readConfig } from "../../config/read-config.ts";
import { connectState } from "../../explorer/server/state-client.ts";
import { describeDifference, placeNames } from "../../saved/difference.ts";
import type { Restored, SavedState, StateControl } from "../../saved/state-control.ts";
import { stateFolder } from "../../state/folder.ts";
import {
  configSelection,
  exitCode,
  projectOptions,
  type Invocation,
  type LeafCommand,
} from "../command.ts";
import { print, printRemark } from "../output.ts";

const nameArgument = ["NAME", "The name: letters, digits, dots, hyphens and underscores"] as const;

export const save: LeafCommand = {
  name: "save",
  summary: "Saves the state under a name",
  details:
    "The saved state has the buckets, zones, KV, D1, R2, caches and Durable Objects as they are at one\n" +
    "moment. Scripts can run meanwhile, in ledge dev, wrangler or Vite. Saved states share on the disk what\n" +
    "is the same.",
  arguments: [nameArgument],
  options: { "--replace": "Replaces the saved state of this name", ...projectOptions },
  examples: ["ledge state save clean", "ledge state save before-migration --replace"],

  async run(invocation, name = "") {
    const control = await openState(invocation);
    const start = performance.now();
    const saved = await control.save(name, { replace: invocation.flag("replace") });
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    print(
      invocation,
      saved,
      `Saved "${saved.name}": ${formatBytes(saved.bytes)}, in ${seconds} s.\n` +
        `To restore it: ledge state restore ${saved.name}`,
    );
  },
};

export const restore: LeafCommand = {
  name: "restore",
  summary: "Replaces the state by a saved state",
  details:
    "The state is replaced as a whole: what is not in the saved state is gone afterwards. What was there\n" +
    "before is saved first, and the command prints the name. A dev server answers the requests that run,\n" +
    "and ends those that take longer than 5 s.",
  arguments: [["NAME", "The saved state"]],
  options: projectOptions,
  examples: ["ledge state restore clean"],

  async run(invocation, name = "") {
    const restored = await (await openState(invocation)).restore(name);
    const isSame = restored.undo === null;
    const same = `"${name}" is what is there already: nothing was changed.`;
    report(invocation, restored, isSame ? same : `Restored "${name}".`);
  },
};

export const reset: LeafCommand = {
  name: "reset",
  summary: "Goes back to the state that the dev server began with",
  details:
    "That is the state that the dev server has saved or restored last or started from, and otherwise the\n" +
    "seed of the project ([state] seed), and otherwise the empty state. What is there now is saved first.",
  options: projectOptions,
  examples: ["ledge state reset"],

  async run(invocation) {
    const restored = await (await openState(invocation)).reset({ savesUndo: true });
    const what = restored.name === null ? "The state is empty." : `Reset to "${restored.name}".`;
    report(invocation, restored, what);
  },
};

function report(invocation: Invocation, restored: Restored, sentence: string): void {
  const { undo, ended, isRestarted } = restored;
  const lines = [
    sentence,
    ...(undo === null ? [] : [`To undo this: ledge state restore ${undo}`]),
    ...(isRestarted ? ["The runtime was started again."] : []),
    ...(ended.length === 0 ? [] : [`Ended ${counted(ended.length, "request")}:`]),
    ...ended.map((request) => `  ${request}`),
  ];
  print(invocation, restored, lines.join("\n"));
}

export const listStates: LeafCommand = {
  name: "list",
  summary: "Lists the saved states",
  details: "A state is automatic if a restore or a seed has saved it.",
  options: projectOptions,

  async run(invocation) {
    const states = await (await openState(invocation)).list();
    if (states.length === 0 && !invocation.flag("json")) {
      printRemark('There are no saved states. "ledge state save NAME" saves one.');
    }
    const rows = states.map(({ name, savedAt, bytes, isAutomatic }) => [
      name,
      `${savedAt.slice(0, 19)}Z`,
      relativeTime(Date.parse(savedAt) - Date.now()),
      formatBytes(bytes),
      isAutomatic ? "automatic" : "",
    ]);
    print(invocation, states, formatTable(rows));
  },
};

const relativeTimes = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const units = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
] as const;

/** `3 hours ago`. A time to come, by a clock that was set, is `now`. */
export function relativeTime(milliseconds: number): string {
  const seconds = Math.max(0, -Math.round(milliseconds / 1000));
  const [unit, length] = units.find(([, each]) => seconds >= each) ?? ["second", 1];
  return relativeTimes.format(-Math.floor(seconds / length), unit);
}

export const deleteStates: LeafCommand = {
  name: "delete",
  aliases: ["rm"],
  summary: "Deletes saved states",
  arguments: [["NAME...", "The saved states"]],
  options: projectOptions,
  examples: ["ledge state delete clean"],

  async run(invocation, ...names) {
    const control = await openState(invocation);
    const known = await control.list();
    const absent = names.find((name) => !known.some((state) => state.name === name));
    if (absent !== undefined) throw unknownState(absent, known);
    const wanted = [...new Set(names)];
    for (const name of wanted) await control.delete(name);
    print(invocation, { deleted: wanted }, `Deleted ${wanted.join(", ")}.`);
  },
};

function unknownState(name: string, known: readonly SavedState[]): NotFoundError {
  const names = known.map((state) => state.name).join(", ");
  return new NotFoundError(
    `There is no saved state "${name}". Nothing was deleted. ` +
      (names === "" ? "There are no saved states." : `The saved states are ${names}.`),
  );
}

export const diff: LeafCommand = {
  name: "diff",
  summary: "Shows what differs between two states",
  details:
    "A line for each key, record, cache entry and row that was added, removed or changed from A to B. What was\n" +
    "written again with the same content is no difference. Of a table, 20 rows are named. The exit code is 0\n" +
    "in both cases, unless --exit-code is given.",
  arguments: [
    ["A", "A saved state"],
    ["[B]", "A saved state (default: what is there now)"],
  ],
  options: {
    "--exit-code": "The exit code is 1 if something differs, as git diff has it",
    ...projectOptions,
  },
  examples: ["ledge state diff clean", "ledge state diff before after"],

  async run(invocation, from = "", to?: string) {
    const difference = await (await openState(invocation)).diff(from, to);
    const other = to === undefined ? "what is there now" : `"${to}"`;
    const lines = describeDifference(difference);
    const text = lines.join("\n") || `Nothing differs between "${from}" and ${other}.`;
    print(invocation, difference, text);
    return lines.length > 0 && invocation.flag("exit-code") ? exitCode.failed : exitCode.done;
  },
};

/** The dev server of the project's state folder, or the folder. */
async function openState(invocation: Invocation): Promise<StateControl> {
  const { config, folder } = findState(invocation);
  const seed = async (): Promise<string | null> => {
    // With the runtime that reads a seed.
    const { projectSeed } = await import("../../dev/seeded-state.ts");
    return projectSeed({ configs: [config], stateFolder: folder })();
  };
  return connectState(folder, { seed, names: placeNames(config.table) });
}

export function findState(invocation: Invocation) {
  const config = readConfig({ ...configSelection(invocation), keysOptional: true });
  return { config, folder: stateFolder(config.folder, invocation.text("persist-to")) };
}
