/**
 * The explorer with a bucket of 1,000,000 keys, beside wrangler's explorer with 10,000 keys of its own:
 * the time from a click and from the address to the first rows, the memory of the tab, and the frames while a
 * person scrolls.
 *
 *     npm run bench -- explorer [--quick]
 *
 * Needs Chromium: `test/browser/install.sh` installs it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { startExplorer } from "../dist/index.js";
import { openExplorerLink } from "../test/support/explorer-access.ts";
import { findChromium } from "../test/browser/support/chromium.ts";
import { measureTab, type MeasuredTab, type TabMeasurement } from "./explorer/tab.ts";
import { startWranglerExplorer } from "./explorer/wrangler-explorer.ts";
import { fillBuckets } from "./store/fill.ts";
import { median } from "./store/measure.ts";

const { values } = parseArgs({ options: { quick: { type: "boolean", default: false } } });
const rounds = values.quick ? 2 : 5;
const keys = { ours: 1_000_000, wrangler: 10_000 };

const folder = mkdtempSync(join(tmpdir(), "ledge-bench-explorer-"));
const browser = await chromium.launch({ executablePath: findChromium(), args: ["--no-sandbox"] });
try {
  console.log(`Filling a bucket with ${keys.ours.toLocaleString("en")} keys`);
  await fillBuckets(join(folder, "ours", "v3"), { large: keys.ours }, ["ours"]);
  await fillBuckets(join(folder, "wrangler", "v3"), { large: keys.wrangler }, ["r2"]);
  const explorer = await startExplorer({
    stateFolder: join(folder, "ours"),
    buckets: ["large"],
    port: 0,
  });
  const wrangler = await startWranglerExplorer(join(folder, "wrangler"), "large");
  try {
    const { address } = await openExplorerLink(explorer.url);
    const bucketUrl = `${address}/buckets/large`;
    const tabs: Readonly<Record<string, MeasuredTab>> = {
      "folders of 1,000,000 keys": {
        enter: explorer.url,
        linkUrl: `${address}/buckets`,
        link: 'a[href$="/buckets/large"]',
        url: bucketUrl,
        row: "[role=grid] [role=row] a",
      },
      "a folder of 10,000 of them": {
        enter: explorer.url,
        linkUrl: bucketUrl,
        link: '[role=grid] a[title="folder-007/"]',
        url: `${bucketUrl}?prefix=folder-007%2F`,
        row: '[role=grid] a[title^="folder-007/"]:not([title="folder-007/"])',
      },
      "wrangler, 10,000 keys": {
        enter: wrangler.url,
        linkUrl: wrangler.url,
        link: `a[href$="/r2/large"]`,
        url: wrangler.bucketUrl,
        row: "tbody tr",
      },
    };
    const measured = new Map<string, TabMeasurement[]>();
    // The first round fills the caches and does not count.
    for (let round = 0; round <= rounds; round++) {
      for (const [name, tab] of Object.entries(tabs)) {
        const measurement = await measureTab(browser, tab);
        if (round > 0) measured.set(name, [...(measured.get(name) ?? []), measurement]);
      }
    }
    const of = (name: string, field: keyof TabMeasurement): number =>
      median((measured.get(name) ?? []).map((each) => each[field]));
    console.log(`Medians of ${rounds} rounds.`);
    console.table(
      Object.fromEntries(
        Object.keys(tabs).map((name) => [
          name,
          {
            "click to rows, ms": Math.round(of(name, "clickMilliseconds")),
            "address to rows, ms": Math.round(of(name, "firstRowsMilliseconds")),
            "of these the list, ms": Math.round(of(name, "listMilliseconds")),
            "memory, MiB": of(name, "memoryMebibytes").toFixed(1),
            "frames a second": Math.round(of(name, "framesPerSecond")),
            "slowest frame, ms": Math.round(of(name, "slowestFrameMilliseconds")),
          },
        ]),
      ),
    );
  } finally {
    await wrangler.stop();
    await explorer.close();
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
