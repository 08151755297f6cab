/**
 * The ratios as an SVG chart: one bar for each operation, from 1 (as fast as R2) on a logarithmic
 * scale, with a line at the target. The colours follow the reader's light or dark scheme.
 */
import type { Machine } from "./machine.ts";
import type { Measured } from "./measure.ts";
import { ratioOf } from "./table.ts";

const width = 860;
const labelWidth = 270;
const valueWidth = 60;
const barHeight = 16;
const pitch = 24;
const top = 84;

const style = `
  text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328; }
  .title { font-size: 17px; font-weight: 600; }
  .quiet { fill: #59636e; font-size: 12px; }
  .grid { stroke: #d1d9e0; }
  .bar { fill: #1a7f64; }
  .behind { fill: #c4432b; }
  .target { stroke: #1f2328; stroke-width: 2; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .quiet { fill: #9198a1; }
    .grid { stroke: #3d444d; }
    .bar { fill: #3fb68f; }
    .behind { fill: #e5694f; }
    .target { stroke: #e6edf3; }
  }`;

const escape = (text: string) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");

export function drawChart(rows: readonly Measured[], machine: Machine): string {
  const bars = rows.flatMap((row) => {
    const ratio = ratioOf(row);
    return ratio === undefined ? [] : [{ name: row.name, target: row.target, ratio }];
  });
  const largest = Math.max(10, ...bars.map(({ ratio, target = 1 }) => Math.max(ratio, target)));
  const least = Math.min(1, ...bars.map(({ ratio }) => ratio));
  const span = Math.log10(largest) - Math.log10(least);
  const plot = width - labelWidth - valueWidth;
  const x = (ratio: number) =>
    Math.round((labelWidth + (plot * (Math.log10(ratio) - Math.log10(least))) / span) * 10) / 10;
  const bottom = top + bars.length * pitch;

  const grid = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
    .filter((ratio) => ratio <= largest)
    .map(
      (ratio) =>
        `<line class="grid" x1="${x(ratio)}" x2="${x(ratio)}" y1="${top - 8}" y2="${bottom}"/>` +
        `<text class="quiet" x="${x(ratio)}" y="${top - 14}" text-anchor="middle">${ratio}×</text>`,
    );
  const drawn = bars.map(({ name, target, ratio }, index) => {
    const y = top + index * pitch;
    const [from, to] = [x(1), x(ratio)].sort((a, b) => a - b) as [number, number];
    const line =
      target === undefined
        ? ""
        : `<line class="target" x1="${x(target)}" x2="${x(target)}" y1="${y - 2}" y2="${y + barHeight + 2}"/>`;
    const value = ratio >= 100 ? ratio.toFixed(0) : ratio.toFixed(1);
    // The text stands after the target's line when the bar ends before it.
    const end = Math.max(to, target === undefined ? 0 : x(target));
    return (
      `<text x="${labelWidth - 12}" y="${y + 13}" text-anchor="end">${escape(name)}</text>` +
      `<rect class="${ratio < 1 ? "behind" : "bar"}" x="${from}" y="${y}" width="${Math.max(1, to - from).toFixed(1)}" height="${barHeight}" rx="2"/>` +
      `${line}<text x="${end + 8}" y="${y + 13}">${value}×</text>`
    );
  });
  const where = `${machine.cpu}, ${machine.cores} cores · workerd ${machine.workerd} · Miniflare ${machine.miniflare} · ${machine.date.slice(0, 10)}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom + 40}" width="${width}" height="${bottom + 40}" role="img" aria-label="How many times faster StoreBucket is than Miniflare's R2">
<style>${style}
</style>
<text class="title" x="16" y="28">How many times faster StoreBucket is than Miniflare's R2</text>
<text class="quiet" x="16" y="48">Medians of one run on one runtime, logarithmic scale. An upright line is a target.</text>
${grid.join("\n")}
${drawn.join("\n")}
<text class="quiet" x="16" y="${bottom + 26}">${escape(where)}</text>
</svg>
`;
}
