/** `ledge store cp`, `mv` and `sync`: between buckets and folders, as people know them from other programs. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import type { StoreBucket } from "../../src/types/store.ts";
import { StoreProject } from "../support/store-command.ts";

/** A project with objects by `BUCKET/KEY`. */
class CopyProject extends StoreProject {
  readonly #buckets = new Map<string, StoreBucket>();

  static async start(objects: readonly string[] = []): Promise<CopyProject> {
    const here = new CopyProject();
    const bindings = await (await here.serve()).getBindings<Record<string, StoreBucket>>();
    here.#buckets.set("photos", bindings["BUCKET"] as StoreBucket);
    here.#buckets.set("archive", bindings["ARCHIVE"] as StoreBucket);
    for (const name of objects) {
      const { bucket, key } = here.#find(name);
      await bucket.put(key, key, { customMetadata: { of: key } });
    }
    return here;
  }

  #find(name: string): { bucket: StoreBucket; key: string } {
    const [bucket, ...parts] = name.split("/");
    return { bucket: this.#buckets.get(bucket as string) as StoreBucket, key: parts.join("/") };
  }

  async text(name: string): Promise<string | undefined> {
    const { bucket, key } = this.#find(name);
    return (await bucket.get(key))?.text();
  }

  async metadata(name: string): Promise<Record<string, string> | undefined> {
    const { bucket, key } = this.#find(name);
    return (await bucket.head(key))?.customMetadata;
  }

  async put(name: string, text: string): Promise<void> {
    const { bucket, key } = this.#find(name);
    await bucket.put(key, text);
  }

  /** The names of all objects. */
  async all(): Promise<string[]> {
    const names: string[] = [];
    for (const [name, bucket] of this.#buckets) {
      const { objects } = await bucket.list();
      names.push(...objects.map(({ key }) => `${name}/${key}`));
    }
    return names;
  }

  /** All files below a folder, without the manifest. */
  files(folder: string): string[] {
    const names = filesIn(this.path(folder)).map((path) => relative(this.path(folder), path));
    return names.filter((name) => name !== ".ledge-metadata.jsonl").sort();
  }

  /** Runs a command that succeeds, and returns what it prints. */
  async ok(line: string): Promise<string> {
    const { code, text, errors } = await this.store(...line.split(" "));
    if (code === 0 && errors === "") return text;
    throw new Error(`ledge store ${line} ended with ${code}: ${errors}`);
  }
}

describe("ledge store cp", () => {
  it("copies between files and buckets, into folders too", async () => {
    const here = await CopyProject.start(["photos/a/1.txt"]);
    here.write("cat.png", "cat");
    here.write("dog.png", "dog");
    expect(await here.ok("cp cat.png photos/b.png")).toMatch(/^photos\/b\.png: 3 bytes, etag /);
    await here.ok("cp ./cat.png dog.png s3://archive/pets/");
    await here.ok("cp ./cat.png PHOTOS");
    await here.ok("cp photos/a/1.txt archive");
    await here.ok("cp photos/a/1.txt archive/2.txt");
    expect(await here.all()).toEqual([
      "photos/a/1.txt",
      "photos/b.png",
      "photos/cat.png",
      "archive/1.txt",
      "archive/2.txt",
      "archive/pets/cat.png",
      "archive/pets/dog.png",
    ]);
    expect(await here.metadata("archive/2.txt")).toEqual({ of: "a/1.txt" });

    expect(await here.ok("cp photos/a/1.txt copy.txt")).toBe("copy.txt: 7 bytes\n");
    await here.ok("cp photos/a/1.txt archive/pets/cat.png out/");
    expect(here.files("out")).toEqual(["1.txt", "cat.png"]);
    expect(await here.ok("cp photos/a/1.txt -")).toBe("a/1.txt");
    // A folder with the name of a bucket is a path if it begins with ./
    mkdirSync(here.path("photos"));
    await here.ok("cp photos/b.png ./photos");
    expect(here.files("photos")).toEqual(["b.png"]);
  });

  it("copies trees, and skips what is the same", async () => {
    const here = await CopyProject.start(["photos/a/1", "photos/a/b/2", "photos/ab", "photos/c"]);
    expect(await here.ok("cp -r photos/a archive/x")).toBe("Copied 2 objects, 8 bytes.\n");
    expect(await here.ok("cp -r photos/a/ archive/x/")).toBe(
      "Copied 0 objects, 0 bytes. 2 unchanged.\n",
    );
    expect(await here.metadata("archive/x/b/2")).toEqual({ of: "a/b/2" });
    expect(await here.ok("cp --recursive photos/a out")).toBe("Copied 2 objects, 8 bytes.\n");
    expect(here.files("out")).toEqual(["1", "b/2"]);
    expect(await here.ok("cp -r ./out archive/y")).toBe("Copied 2 objects, 8 bytes.\n");
    expect(await here.metadata("archive/y/b/2")).toEqual({ of: "a/b/2" });
    // Other metadata are another object.
    await here.put("archive/x/1", "a/1");
    expect(await here.ok("cp -r photos/a archive/x")).toContain("Copied 1 object, 3 bytes.");
    expect(await here.metadata("archive/x/1")).toEqual({ of: "a/1" });
  });

  it("refuses mistakes, and changes nothing", async () => {
    const here = await CopyProject.start(["photos/a", "photos/a/b"]);
    for (const [line, code, message] of [
      ["cp cat.png fotos/cat.png", 3, 'There is no bucket "fotos". Did you mean "photos"?'],
      ["cp ./a ./b", 2, "The source or the target must be in a bucket"],
      ["cp ./a photos/b ./c/", 2, "The source or the target must be in a bucket"],
      ["cp photos/a", 2, "TARGET is missing"],
      ["cp photos archive", 2, '"photos/" is no file and no object: -r takes its content.'],
      ["cp . photos", 2, '"." is no file and no object: -r takes its content.'],
      ["cp photos/a photos/b archive/c", 2, 'write "archive/c/" to make the folder.'],
      ["cp photos/a photos/b c", 2, 'write "c/" to make the folder.'],
      ["cp - photos/", 2, "Standard input has no name"],
      ["cp photos/a photos/a", 2, '"photos/a" is the source and the target.'],
      ["mv photos/a PHOTOS", 2, '"photos/a" is the source and the target.'],
      ["cp photos/none archive/", 3, 'There is no object "none" in "photos".'],
      ["mv photos/none ./copy", 3, 'There is no object "none" in "photos".'],
      ["mv ./none photos/a", 3, "There is no file ./none."],
      ["cp photos/a fotos/a", 3, "There is no folder"],
      ["mv -r photos/a photos/a/b", 2, "overlap: choose another target."],
      ["cp -r photos/a photos", 2, "overlap: choose another target."],
      ["cp -r photos/a/ photos/b archive", 2, "With -r, name one SOURCE and one TARGET."],
      ["sync photos/none ./out --delete", 3, 'There is no object below "photos/none/".'],
      ["sync ./none photos --delete", 3, "There is no folder"],
    ] as const) {
      const ended = await here.store(...line.split(" "));
      const errors = expect.stringContaining(message) as string;
      expect({ line, ...ended }).toMatchObject({ line, code, text: "", errors });
    }
    expect(await here.all()).toEqual(["photos/a", "photos/a/b"]);
    expect(existsSync(here.path("out"))).toBe(false);
  });
});

describe("ledge store mv", () => {
  it("moves between files and buckets", async () => {
    const here = await CopyProject.start(["photos/a", "photos/b", "photos/t/1", "photos/t/2/3"]);
    here.write("cat.png", "cat");
    await here.ok("mv cat.png photos/");
    expect(existsSync(here.path("cat.png"))).toBe(false);
    await here.ok("mv photos/cat.png cat.png");
    expect(readFileSync(here.path("cat.png"), "utf8")).toBe("cat");
    await here.ok("mv photos/a photos/b archive/");
    expect(await here.metadata("archive/a")).toEqual({ of: "a" });
    expect(await here.ok("mv -r photos/t archive/t")).toBe("Moved 2 objects, 8 bytes.\n");
    expect(await here.all()).toEqual(["archive/a", "archive/b", "archive/t/1", "archive/t/2/3"]);
    await here.ok("mv -r archive out");
    expect(await here.all()).toEqual([]);
    expect(here.files("out")).toEqual(["a", "b", "t/1", "t/2/3"]);
    await here.ok("mv -r out photos/back");
    expect(here.files("out")).toEqual([]);
    expect(await here.metadata("photos/back/t/2/3")).toEqual({ of: "t/2/3" });
  });

  it("keeps the sources of what it could not move", async () => {
    const here = await CopyProject.start(["photos/a", "photos/b"]);
    mkdirSync(here.path("out/b"), { recursive: true });
    const ended = await here.store("mv", "-r", "photos", "out");
    expect(ended).toMatchObject({ code: 1, text: "Moved 1 object, 1 byte. 1 failed.\n" });
    expect(await here.all()).toEqual(["photos/b"]);
  });
});

describe("ledge store sync", () => {
  it("makes a bucket equal to a folder", async () => {
    const here = await CopyProject.start(["photos/site/old", "photos/other"]);
    here.write("public/index.html", "<p>");
    here.write("public/deep/a.txt", "a");
    expect(await here.ok("sync public photos/site -n --delete")).toBe(
      "copy photos/site/deep/a.txt\ncopy photos/site/index.html\ndelete photos/site/old\n" +
        "Would copy 2 objects, 4 bytes. 1 to be deleted.\n",
    );
    expect(await here.all()).toEqual(["photos/other", "photos/site/old"]);
    expect(await here.ok("sync ./public photos/site")).toBe("Copied 2 objects, 4 bytes.\n");
    expect(await here.ok("sync ./public photos/site/ --delete")).toBe(
      "Copied 0 objects, 0 bytes. 2 unchanged. 1 deleted.\n",
    );
    expect(await here.all()).toEqual([
      "photos/other",
      "photos/site/deep/a.txt",
      "photos/site/index.html",
    ]);
    // The folder says nothing about metadata: an object with the same content is the same.
    await here.put("photos/site/index.html", "<p>");
    expect(await here.ok("sync ./public photos/site")).toContain("2 unchanged.");
    here.write("public/index.html", "<q>");
    expect(await here.ok("sync ./public photos/site")).toContain("Copied 1 object, 3 bytes.");
    expect(await here.text("photos/site/index.html")).toBe("<q>");
  });

  it("makes a folder equal to a bucket, and back with metadata", async () => {
    const here = await CopyProject.start(["photos/s/1", "photos/s/2", "photos/s/d/3", "photos/x"]);
    here.write("out/old.txt", "old");
    const plan = await here.ok("sync photos/s out --delete --dry-run");
    expect(plan).toContain(`copy ${here.path("out/d/3")}\n`);
    expect(plan).toContain(`delete ${here.path("out/old.txt")}\n`);
    expect(here.files("out")).toEqual(["old.txt"]);
    expect(await here.ok("sync photos/s out")).toBe("Copied 3 objects, 11 bytes.\n");
    expect(await here.ok("sync photos/s out --delete")).toBe(
      "Copied 0 objects, 0 bytes. 3 unchanged. 1 deleted.\n",
    );
    expect(here.files("out")).toEqual(["1", "2", "d/3"]);

    rmSync(here.path("out/1"));
    writeFileSync(here.path("out/2"), "changed");
    expect(await here.ok("sync out photos/s --delete")).toBe(
      "Copied 1 object, 7 bytes. 1 unchanged. 1 deleted.\n",
    );
    expect(await here.all()).toEqual(["photos/s/2", "photos/s/d/3", "photos/x"]);
    expect(await here.text("photos/s/2")).toBe("changed");
    expect(await here.metadata("photos/s/2")).toEqual({ of: "s/2" });
  });

  it("makes a bucket equal to another, uploads in parts included", async () => {
    const here = await CopyProject.start(["photos/a", "archive/old"]);
    const { BUCKET } = await (await here.serve()).getBindings<{ BUCKET: StoreBucket }>();
    const upload = await BUCKET.createMultipartUpload("parts");
    await upload.complete([await upload.uploadPart(1, "part")]);
    expect(await here.ok("sync photos archive --delete")).toBe(
      "Copied 2 objects, 5 bytes. 1 deleted.\n",
    );
    expect(await here.ok("sync photos archive --delete")).toBe(
      "Copied 0 objects, 0 bytes. 2 unchanged. 0 deleted.\n",
    );
    await here.put("photos/a", "b");
    expect(await here.ok("sync photos archive")).toContain("Copied 1 object, 1 byte.");
    expect(await here.text("archive/a")).toBe("b");
  });

  it("deletes nothing if something could not be copied", async () => {
    const here = await CopyProject.start(["photos/a", "photos/b"]);
    here.write("out/old.txt", "old");
    mkdirSync(here.path("out/b"));
    const down = await here.store("sync", "photos", "out", "--delete");
    expect(down).toMatchObject({
      code: 1,
      text: "Copied 1 object, 1 byte. 0 deleted. 1 failed.\n",
    });
    expect(down.errors).toContain("Nothing was deleted, because not everything could be copied.");
    expect(here.files("out")).toEqual(["a", "old.txt"]);
  });
});

it("an interrupt ends a copy with exit code 130, and leaves whole files only", async () => {
  const here = new StoreProject();
  await here.serve();
  const bytes = 60_000_000;
  for (let n = 0; n < 3; n++) here.write(`files/${n}.bin`, Buffer.alloc(bytes, n));
  expect(await here.store("cp", "-r", "files", "photos")).toMatchObject({ code: 0 });
  // A command that has ended before the signal is started again.
  let code: number | null = 0;
  while (code === 0) {
    rmSync(here.path("out"), { recursive: true, force: true });
    const copying = here.start("sync", "photos", "out");
    const isUnderWay = () =>
      filesIn(here.path("out")).length > 0 || copying.child.exitCode !== null;
    await expect.poll(isUnderWay, { timeout: 60_000, interval: 1 }).toBe(true);
    copying.child.kill("SIGINT");
    ({ code } = await copying.end());
  }
  expect(code).toBe(130);
  for (const file of filesIn(here.path("out"))) {
    expect([file, statSync(file).size]).toEqual([expect.stringMatching(/\/\d\.bin$/), bytes]);
  }
  expect(await here.store("sync", "photos", "out")).toMatchObject({ code: 0 });
  expect(filesIn(here.path("out"))).toHaveLength(4);
});

function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Names that are not UTF-8: only bytes can write them. */
function writeBytes(folder: string, name: Buffer, content: string): void {
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), name]), content);
}

it.runIf(process.platform === "linux")(
  "import and sync name files whose names are not UTF-8, and copy the others",
  async () => {
    const here = await CopyProject.start(["photos/old"]);
    here.write("files/fine ä.txt", "fine");
    writeBytes(here.path("files"), Buffer.from("caf\xe9.txt", "latin1"), "bytes");
    mkdirSync(Buffer.concat([Buffer.from(here.path("files/")), Buffer.from([0xff])]));
    const message = "The name is not UTF-8, as a key must be: rename it.";
    const ended = await here.store("import", "photos", "files");
    expect(ended).toMatchObject({ code: 1, text: "Imported 1 object, 4 bytes. 2 failed.\n" });
    expect(ended.errors).toBe(`caf\\xe9.txt: ${message}\n\\xff: ${message}\n`);
    const synced = await here.store("sync", "files", "photos", "--delete");
    expect(synced).toMatchObject({
      code: 1,
      text: "Copied 0 objects, 0 bytes. 1 unchanged. 0 deleted. 2 failed.\n",
    });
    expect(await here.all()).toEqual(["photos/fine ä.txt", "photos/old"]);
  },
);
