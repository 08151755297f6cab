/** Writes a `.br` and a `.gz` variant of each file if the variant is smaller: `node compress.ts site`. */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";

const folder = process.argv[2];
if (folder === undefined) throw new Error("The folder is missing. Example: node compress.ts site");

const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((name) => /\.(css|html|js|json|map|mjs|svg|txt|wasm|webmanifest|xml)$/.test(name))
  .map((name) => join(folder, name))
  .filter((path) => statSync(path).isFile());

for (const path of files) {
  const content = readFileSync(path);
  const variants = { ".br": brotliCompressSync(content), ".gz": gzipSync(content, { level: 9 }) };
  for (const [extension, compressed] of Object.entries(variants)) {
    if (compressed.length < content.length) writeFileSync(path + extension, compressed);
  }
}
console.log(`Checked ${files.length} files.`);
