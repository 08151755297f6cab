/** A folder of files whose names and sizes clients tend to get wrong, and its comparison with a copy. */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";

/** More than two parts of every client. */
const largeBytes = 20 * 1024 * 1024;

const contents: Readonly<Record<string, Buffer>> = {
  empty: Buffer.alloc(0),
  "text.txt": Buffer.from("text\n"),
  ".hidden": Buffer.from("leading dot"),
  "with space and +.txt": Buffer.from("plus"),
  "100%.txt": Buffer.from("percent"),
  "%41%2F.txt": Buffer.from("looks encoded"),
  "a&b=c;d,e@f$g!'(h)~.txt": Buffer.from("reserved characters"),
  "größe/日本語 🎈.txt": Buffer.from("beyond ASCII"),
  "deep/er/and/deeper.json": Buffer.from('{"deep":true}'),
  "deep/ leading space": Buffer.from("space"),
  "binary.bin": Buffer.from(Uint8Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256)),
  "large.bin": patternOf(largeBytes),
};

/** Bytes without a short period, so that parts in the wrong order are another content. */
function patternOf(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = 1;
  for (let index = 0; index < length; index += 4) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes.writeUInt32LE(state, index);
  }
  return bytes;
}

export function writeSampleFiles(folder: string): void {
  for (const [name, content] of Object.entries(contents)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

/** The hash of each file below the folder, by its path. */
function hashesIn(folder: string): Record<string, string> {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1), hashOf(readFileSync(path))];
    }),
  );
}

function hashOf(content: Buffer): string {
  return `${content.length} bytes, sha256 ${createHash("sha256").update(content).digest("hex")}`;
}

/**
 * Files that an export has beside the objects: metadata, and keys that no path can have. s3fs makes an
 * object for each folder, whose key ends with a slash.
 */
const ofExport = /^\.ledge-(metadata\.jsonl$|keys\/)/;

export function expectSampleFiles(folder: string): void {
  const found = Object.entries(hashesIn(folder)).filter(([name]) => !ofExport.test(name));
  const expected = Object.entries(contents).map(([name, content]) => [name, hashOf(content)]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
}
