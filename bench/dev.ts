/**
 * `ledge dev` beside `wrangler dev`, with the same script: the start, the reload after a save, and
 * the memory of all processes.
 *
 *     npm run bench -- dev [--rounds 7] [--quick]
 */
import { parseArgs } from "node:util";
import { measureDevServer, type Contestant, type DevMeasurement } from "./dev/dev-server.ts";
import { median } from "./store/measure.ts";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "7" }, quick: { type: "boolean", default: false } },
});
const rounds = values.quick ? 3 : Number(values.rounds);

const ledge = "dist/cli.js";
const buckets = [{ binding: "PHOTOS", bucket_name: "photos" }];
const dnsPorts = ["--dns-port", "0", "--dns-api-port", "0"];
const contestants: readonly Contestant[] = [
  {
    name: "wrangler dev",
    program: "node_modules/wrangler/bin/wrangler.js",
    options: ["--inspector-port", "0"],
    config: { r2_buckets: buckets },
  },
  { name: "ledge dev", program: ledge, options: dnsPorts, config: { store_buckets: buckets } },
  {
    name: "ledge dev with [dns]",
    program: ledge,
    options: dnsPorts,
    config: { store_buckets: buckets, dns: { zones: [{ name: "example.org" }] } },
  },
];

const results = new Map<Contestant, DevMeasurement[]>();
// The first round fills the caches of both and does not count.
for (let round = 0; round <= rounds; round++) {
  for (const contestant of round % 2 === 0 ? contestants : contestants.toReversed()) {
    const measured = await measureDevServer(contestant);
    if (round > 0) results.set(contestant, [...(results.get(contestant) ?? []), measured]);
  }
}

const stock = contestants[0] as Contestant;
const rows = {
  "start, ms": "startMilliseconds",
  "start, processor seconds": "startProcessorSeconds",
  "reload after a save, ms": "reloadMilliseconds",
  "memory, MiB": "memoryMebibytes",
} as const;
console.log(
  `Medians of ${rounds} rounds; in parentheses the ratio to the same value of ${stock.name}.`,
);
console.table(
  Object.fromEntries(
    Object.entries(rows).map(([title, field]) => [
      title,
      Object.fromEntries(contestants.map((each) => [each.name, describe(each, field)])),
    ]),
  ),
);

function describe(contestant: Contestant, field: keyof DevMeasurement): string {
  const own = medianOf(contestant, field);
  const digits = field === "startProcessorSeconds" ? 2 : 0;
  const ratio = contestant === stock ? "" : ` (${(own / medianOf(stock, field)).toFixed(2)})`;
  return `${own.toFixed(digits)}${ratio}`;
}

function medianOf(contestant: Contestant, field: keyof DevMeasurement): number {
  return median((results.get(contestant) ?? []).map((each) => each[field] ?? NaN));
}
