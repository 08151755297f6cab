/**
 * The edge of `ledge dev`: a request by name beside the same request to the address of the script, and an object of a public
 * bucket beside Miniflare's public path for R2 in `wrangler dev`.
 *
 *     npm run bench -- edge             all rows
 *     npm run bench -- edge --quick     fewer and shorter turns
 *     npm run bench -- edge --only MiB  the rows whose name contains "MiB"
 */
import { randomFillSync } from "node:crypto";
import { parseArgs } from "node:util";
import { formatTable } from "../src/base/format.ts";
import {
  bucketHost,
  bucketName,
  scriptHost,
  startDevServer,
  type DevServer,
} from "./edge/dev-server.ts";
import { measureRow, type Row, type Side, type SideResult } from "./edge/measure-row.ts";
import { Progress } from "./store/progress.ts";
import { formatTime } from "./store/table.ts";

const { values } = parseArgs({
  options: { quick: { type: "boolean", default: false }, only: { type: "string", default: "" } },
});
const effort = values.quick
  ? { turnMilliseconds: 200, rounds: 3 }
  : { turnMilliseconds: 500, rounds: 9 };

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;
const sizes = { "1 KiB": kibibyte, "1 MiB": mebibyte, "64 MiB": 64 * mebibyte };

interface EdgeRow extends Row {
  /** The aim for the ratio. */
  readonly max?: number;
  readonly min?: number;
}

const servers: DevServer[] = [];
try {
  for (const kind of ["ledge", "wrangler"] as const) servers.push(await startDevServer(kind));
  const [ledge, wrangler] = servers as [DevServer, DevServer];
  for (const bytes of Object.values(sizes)) {
    for (const { port } of servers) await store(port, bytes);
  }
  await showTable(scriptRows(ledge, wrangler), ["by name", "by address"]);
  await showTable(objectRows(ledge, wrangler), ["Miniflare", "by name"]);
  console.log(
    `\nMedians of ${effort.rounds} turns, for one request. Processor time is that of all processes.`,
  );
} finally {
  for (const server of servers) await server.stop();
}

async function store(port: number, bytes: number): Promise<void> {
  const body = randomFillSync(new Uint8Array(bytes));
  const response = await fetch(`http://127.0.0.1:${port}/${bytes}`, { method: "PUT", body });
  if (!response.ok) throw new Error(`PUT: ${response.status} ${await response.text()}`);
}

/** The script's own address goes through the edge as well; `wrangler dev` has no edge. */
function scriptRows(ledge: DevServer, wrangler: DevServer): EdgeRow[] {
  const sides: Side[] = [
    { name: "by name", server: ledge, host: `${scriptHost}.localhost`, path: "/" },
    { name: "by address", server: ledge, host: "127.0.0.1", path: "/" },
    { name: "wrangler dev", server: wrangler, host: "127.0.0.1", path: "/" },
  ];
  return [1, 32].map((requestsAtOnce) => {
    const name = `a script, ${requestsAtOnce} at once`;
    return { name, requestsAtOnce, bytes: 6, sides, max: 1.15 };
  });
}

function objectRows(ledge: DevServer, wrangler: DevServer): EdgeRow[] {
  return Object.entries(sizes).flatMap(([size, bytes]) => {
    const sides: Side[] = [
      { name: "by name", server: ledge, host: `${bucketHost}.localhost`, path: `/${bytes}` },
      {
        name: "by path",
        server: ledge,
        host: "127.0.0.1",
        path: `/cdn-cgi/local/store/public/${bucketName}/${bytes}`,
      },
      {
        name: "Miniflare",
        server: wrangler,
        host: "127.0.0.1",
        path: `/cdn-cgi/local/r2/public/${bucketName}/${bytes}`,
      },
    ];
    const counts = bytes > mebibyte ? [1] : [1, 32];
    return counts.map((requestsAtOnce) => {
      const name = `${size}, ${requestsAtOnce} at once`;
      return { name, requestsAtOnce, bytes, sides, ...(bytes === mebibyte && { min: 1.5 }) };
    });
  });
}

/** @param compared the names of the sides whose ratio is shown */
async function showTable(given: readonly EdgeRow[], compared: [string, string]): Promise<void> {
  const rows = given.filter(({ name }) => name.includes(values.only));
  if (rows.length === 0) return;
  const progress = new Progress(rows.length);
  const names = rows[0]?.sides.map(({ name }) => name) ?? [];
  const table = [["", ...names, compared.join(" / "), "aim", "processor time"]];
  for (const row of rows) {
    progress.step(row.name);
    const results = await measureRow(row, effort);
    const [one, other] = compared.map((name) => results.get(name) as SideResult) as [
      SideResult,
      SideResult,
    ];
    const ratio = one.milliseconds / other.milliseconds;
    table.push([
      row.name,
      ...names.map((name) => formatTime(results.get(name)?.milliseconds)),
      ratio.toFixed(2),
      describeAim(row, ratio),
      (one.processorMilliseconds / other.processorMilliseconds).toFixed(2),
    ]);
  }
  progress.end();
  console.log(`\n${formatTable(table)}`);
}

function describeAim({ max, min }: EdgeRow, ratio: number): string {
  if (max !== undefined) return `≤ ${max} ${ratio <= max ? "✓" : "✗"}`;
  return min === undefined ? "" : `≥ ${min} ${ratio >= min ? "✓" : "✗"}`;
}
