import { execFileSync } from "node:child_process";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { propertyRuns } from "../../test/support/property-runs.ts";
import { readTar, TarError, writeTar, type TarMember } from "./tar.ts";

interface File {
  readonly path: string;
  readonly bytes: Uint8Array;
}

const member = ({ path, bytes }: File): TarMember => ({
  path,
  size: bytes.length,
  content: [bytes],
});

async function written(files: readonly File[]): Promise<Buffer> {
  const chunks = [];
  for await (const chunk of writeTar(files.map(member))) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** @param chunkBytes the lengths of the chunks in which the archive arrives */
async function readBack(archive: Buffer, chunkBytes = archive.length): Promise<File[]> {
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    for (let start = 0; start < archive.length; start += chunkBytes) {
      yield archive.subarray(start, start + chunkBytes);
    }
  };
  const files: File[] = [];
  for await (const { path, content } of readTar(chunks())) {
    const parts = [];
    for await (const part of content) parts.push(part);
    files.push({ path, bytes: new Uint8Array(Buffer.concat(parts)) });
  }
  return files;
}

const file = fc.record({
  path: fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 300 })
    .filter((path) => !path.includes("\0")),
  bytes: fc.uint8Array({ maxLength: 1500 }),
});

describe("writeTar() and readTar()", () => {
  it("give the same files, in whatever pieces the archive arrives", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(file, { maxLength: 5 }),
        fc.integer({ min: 1, max: 2000 }),
        async (files, chunkBytes) => {
          expect(await readBack(await written(files), chunkBytes)).toEqual(files);
        },
      ),
      { numRuns: propertyRuns({ few: 50, all: 1000 }) },
    );
  });

  it.each([99, 100, 101, 989, 990, 991, 992])("keep a path of %i characters", async (length) => {
    const files = [{ path: "n".repeat(length), bytes: new Uint8Array(1) }];
    expect(await readBack(await written(files))).toEqual(files);
  });

  it("writes what the tar of the system lists, with long names", async () => {
    const paths = ["short.txt", `v3/kv/${"n".repeat(120)}/blobs/${"0".repeat(80)}`, "v3/ü/ß.txt"];
    const archive = await written(paths.map((path) => ({ path, bytes: new Uint8Array(700) })));
    const listed = execFileSync("tar", ["-tf", "-", "--quoting-style=literal"], { input: archive });
    expect(listed.toString().trim().split("\n")).toEqual(paths);
  });

  it("keeps the size of a file that is larger than the header can say", async () => {
    const size = 10 * 1024 ** 3;
    // The content is not written: only the headers are read.
    const archive = writeTar([{ path: "large", size, content: [] }]);
    const { value } = await readTar(archive).next();
    expect(value).toMatchObject({ path: "large", size });
  });
});

describe("readTar()", () => {
  it("refuses an archive that is cut", async () => {
    const archive = await written([{ path: "a", bytes: new Uint8Array(600) }]);
    for (const bytes of [0, 100, 512, 700, 1535, 1536]) {
      await expect(readBack(archive.subarray(0, bytes))).rejects.toThrow("the file is cut");
    }
  });

  it("refuses a header with a changed byte, and what is no tar file", async () => {
    const archive = await written([{ path: "a", bytes: new Uint8Array(600) }]);
    archive[0] = "b".charCodeAt(0);
    await expect(readBack(archive)).rejects.toThrow(TarError);
    await expect(readBack(Buffer.alloc(512, "text "))).rejects.toThrow("a header is damaged");
  });

  it("refuses members that are no files", async () => {
    const archive = systemTar("ln -s /etc/passwd link");
    await expect(readBack(archive)).rejects.toThrow('"link" is no file');
  });

  it("reads files of the tar of the system, with extended headers", async () => {
    const name = "n".repeat(150);
    const [found] = await readBack(systemTar(`echo hello > ${name}`));
    expect(found?.path).toBe(name);
    expect(Buffer.from(found?.bytes ?? []).toString()).toBe("hello\n");
  });
});

/** @param command makes the files, in an empty folder */
function systemTar(command: string): Buffer {
  const script = `cd "$(mktemp -d)" && ${command} && tar --format=pax -cf - * && rm -r "$PWD"`;
  return execFileSync("sh", ["-c", script]);
}
