/**
 * `npm run test:long -- faults`: runs the fault suite and prints its figures.
 *
 *     --long        the long form: hours of faults instead of seconds. The form when no option is given
 *     --seed N      repeats a run
 *     --only NAME   the test files whose names contain NAME
 *     --kills N     how many kills the long form of the crash suite makes
 *     --cuts N      how often the power suite cuts the power
 *     --mutations   shows that each suite fails when the code that it tests is wrong
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runMutations } from "./mutate.ts";
import { formatTable } from "./support/figures.ts";

const { values } = parseArgs({
  options: {
    long: { type: "boolean", default: false },
    seed: { type: "string" },
    only: { type: "string" },
    kills: { type: "string" },
    cuts: { type: "string" },
    mutations: { type: "boolean", default: false },
  },
});
const root = fileURLToPath(new URL("../..", import.meta.url));
if (values.mutations) process.exit(runMutations(root, values.only) ? 0 : 1);
const folder = mkdtempSync(join(tmpdir(), "ledge-figures-"));
const figures = join(folder, "figures");
const files = `test/faults/${values.only ?? ""}`;
const { status } = spawnSync(
  process.execPath,
  [
    join(root, "node_modules/vitest/vitest.mjs"),
    "run",
    "--project=integration",
    "--project=more",
    "--project=power",
    files,
  ],
  {
    cwd: root,
    stdio: "inherit",
    env: {
      ...process.env,
      LEDGE_FIGURES: figures,
      ...(values.long && { LEDGE_FAULTS: "long" }),
      ...(values.seed !== undefined && { LEDGE_SEED: values.seed }),
      ...(values.kills !== undefined && { LEDGE_KILLS: values.kills }),
      ...(values.cuts !== undefined && { LEDGE_CUTS: values.cuts }),
    },
  },
);
if (existsSync(figures)) console.log(formatTable(readFileSync(figures, "utf8")));
rmSync(folder, { recursive: true, force: true });
process.exitCode = status ?? 1;
