/**
 * Compares Ledge's StoreBucket with Miniflare's R2 and the floor.
 *
 *     npm run bench -- store [--quick] [--only <text>] [--help]
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { help, parseOptions } from "./store/arguments.ts";
import { drawChart } from "./store/chart.ts";
import { passes } from "./store/check.ts";
import { describeMachine } from "./store/machine.ts";
import { measureAll, planAll } from "./store/plan.ts";
import { checkTable, ratioOf, rowTable } from "./store/table.ts";

const options = parseOptions(process.argv.slice(2));
const plan = planAll(options);
if (options.help) {
  console.log(help);
} else if (options.list) {
  console.log(plan.map(({ name }) => name).join("\n"));
} else if (plan.length === 0) {
  console.error(
    `No measurement has ${options.only.join(" or ")} in its name. Run with --list to see the names.`,
  );
  process.exitCode = 1;
} else {
  await bench();
}

function write(name: string, text: string): void {
  writeFileSync(new URL(name, import.meta.url), text);
}

async function bench(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "ledge-bench-"));
  const clean = () => rmSync(folder, { recursive: true, force: true });
  // The folder holds gibibytes. The runtimes end with this process.
  process.once("SIGINT", () => {
    clean();
    process.exit(130);
  });
  const started = performance.now();
  try {
    const { rows, checks } = await measureAll(plan, { folder, quick: options.quick });
    const machine = describeMachine();
    const seconds = Math.round((performance.now() - started) / 1000);
    if (rows.length > 0) console.log(`${rowTable(rows)}\n`);
    if (checks.length > 0) console.log(`${checkTable(checks)}\n`);
    console.log(
      `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGibibytes} GiB; Node ${machine.node}, ` +
        `workerd ${machine.workerd}, Miniflare ${machine.miniflare}; ${seconds} s`,
    );
    // The README shows the results of a whole run.
    if (options.only.length > 0 || options.quick) return;
    const results = {
      machine,
      seconds,
      rows: rows.map((row) => ({ ...row, ratio: ratioOf(row) })),
      checks: checks.map((check) => ({ ...check, passes: passes(check) })),
    };
    write("./results.json", `${JSON.stringify(results, null, 2)}\n`);
    write("./results.svg", drawChart(rows, machine));
    console.log("Written: bench/results.json, bench/results.svg");
  } finally {
    clean();
  }
}
