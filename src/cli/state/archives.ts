/** `ledge state export` and `import`: a saved state as one file. */
import { resolve } from "node:path";
import { formatBytes } from "../../base/format.ts";
import { Progress } from "../../base/progress.ts";
import { exportState, importState, type ArchiveOptions } from "../../saved/archive.ts";
import { projectOptions, type LeafCommand } from "../command.ts";
import { print } from "../output.ts";
import { withCleanup } from "../run.ts";
import { findState } from "./saved-states.ts";

export const exportArchive: LeafCommand = {
  name: "export",
  summary: "Writes a state to one file",
  details:
    "The file is a tar file, compressed with zstd, or with gzip where Node has no zstd. Another machine and\n" +
    "later versions of Ledge import it. It has everything that scripts have stored, and the keys of signed\n" +
    "zones.",
  arguments: [
    ["[NAME]", "The saved state; without it, what is there now"],
    ["FILE", "The file, which is replaced if it exists"],
  ],
  options: projectOptions,
  examples: ["ledge state export clean clean.tar.zst", "ledge state export today.tar.zst"],

  async run(invocation, ...words) {
    const [file = "", name = null] = words.toReversed();
    const { folder } = findState(invocation);
    const bytes = await transfer("Exporting", (options) =>
      exportState(folder, name, resolve(file), options),
    );
    const what = name === null ? "what is there now" : `"${name}"`;
    print(invocation, { name, file, bytes }, `Exported ${what} to ${file}: ${formatBytes(bytes)}.`);
  },
};

export const importArchive: LeafCommand = {
  name: "import",
  summary: 'Makes a saved state of a file of "ledge state export"',
  details:
    "The file is verified before the saved state appears. The state of the project is not changed before\n" +
    '"ledge state restore NAME".',
  arguments: [
    ["FILE", "The file"],
    ["[NAME]", "The name of the saved state (default: the name that was exported)"],
  ],
  options: projectOptions,
  examples: ["ledge state import clean.tar.zst", "ledge state import clean.tar.zst theirs"],

  async run(invocation, file = "", name?: string) {
    const { folder } = findState(invocation);
    const saved = await transfer("Importing", (options) =>
      importState(folder, resolve(file), name, options),
    );
    print(
      invocation,
      saved,
      `Imported "${saved.name}": ${formatBytes(saved.bytes)}.\n` +
        `To restore it: ledge state restore ${saved.name}`,
    );
  },
};

/** A signal ends the work, which removes its files. */
async function transfer<Result>(
  label: string,
  start: (options: ArchiveOptions) => Promise<Result>,
): Promise<Result> {
  const progress = new Progress(label);
  const stop = new AbortController();
  const work = start({
    signal: stop.signal,
    onProgress: (bytes, total) => {
      progress.total = total;
      progress.moveTo(bytes);
    },
  });
  return withCleanup(
    () => work.finally(() => progress.end()),
    async () => {
      stop.abort();
      await work.catch(() => {});
    },
  );
}
