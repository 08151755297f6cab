import { describe, expect, it } from "vitest";
import {
  DiskSpace,
  reserveBytes,
  type DiskService,
  FilePresence,
  validMilliseconds,
} from "./disk.ts";

/** A disk with so many free bytes, and without other errors. */
class FakeDisk implements DiskService {
  readonly files = new Map<string, number>();
  free: number;
  isReadOnly = false;

  constructor(free: number) {
    this.free = free;
  }

  async fetch(url: string, init: { method: string; body?: Uint8Array } = { method: "GET" }) {
    const name = new URL(url).pathname.slice(1);
    const size = this.files.get(name);
    if (init.method === "PUT") {
      const bytes = init.body?.length ?? 0;
      if (this.isReadOnly || bytes > this.free) throw new Error("Network connection lost.");
      this.free += (size ?? 0) - bytes;
      this.files.set(name, bytes);
    } else if (init.method === "DELETE" && size !== undefined) {
      this.free += size;
      this.files.delete(name);
    }
    const ok = init.method === "PUT" || size !== undefined;
    const headers = new Headers(size === undefined ? {} : { "content-length": String(size) });
    return { ok, headers, body: null };
  }
}

const mebibyte = 1024 * 1024;

function spaceOn(disk: DiskService): DiskSpace {
  let names = 0;
  return new DiskSpace({
    disk,
    folder: "/state/store",
    randomName: () => String(++names),
    fillRandom: (bytes) => void bytes.fill(7),
  });
}

describe("DiskSpace", () => {
  it("findProblem() returns null where there is space, and writes the reserve", async () => {
    const disk = new FakeDisk(100 * mebibyte);
    expect(await spaceOn(disk).findProblem(mebibyte)).toBeNull();
    expect([...disk.files]).toEqual([["reserve", reserveBytes]]);
  });

  it("findProblem() names the device that is full", async () => {
    const disk = new FakeDisk(1000);
    const space = spaceOn(disk);
    expect(await space.findProblem()).toMatchObject({
      text: expect.stringContaining(
        "No space left on the device that holds /state/store.",
      ) as string,
      lacksSpace: true,
    });
    expect(space.isFull).toBe(true);
    expect(disk.files.size).toBe(0);
    disk.free = 100 * mebibyte;
    expect(await space.findProblem()).toBeNull();
    expect(space.isFull).toBe(false);
  });

  it("findProblem() counts a device as full that has no space for the reserve", async () => {
    const disk = new FakeDisk(3 * mebibyte);
    const space = spaceOn(disk);
    expect(await space.findProblem()).toMatchObject({
      text: expect.stringContaining("No space left") as string,
      lacksSpace: true,
    });
    // What there is is reserved, so that another program does not take it.
    expect(disk.files.get("reserve")).toBe(2 * mebibyte);
  });

  it("findProblem() says that a large value does not fit, and that small values do", async () => {
    const space = spaceOn(new FakeDisk(10 * mebibyte));
    expect(await space.findProblem(8 * mebibyte)).toMatchObject({
      text: expect.stringContaining("for 8388608 bytes") as string,
      lacksSpace: true,
    });
    expect(await space.findProblem(1000 * mebibyte)).toMatchObject({
      text: expect.stringContaining("Not enough space left") as string,
      lacksSpace: true,
    });
    expect(space.isFull).toBe(false);
  });

  it("findProblem() says that a folder accepts no file, which is not a matter of space", async () => {
    const disk = new FakeDisk(100 * mebibyte);
    disk.isReadOnly = true;
    const space = spaceOn(disk);
    expect(await space.findProblem()).toMatchObject({
      text: expect.stringContaining("Cannot write to /state/store") as string,
      lacksSpace: false,
    });
    expect(space.isFull).toBe(false);
  });

  it("releaseReserve() gives the space of the reserve, and restoreReserve() takes it", async () => {
    const disk = new FakeDisk(reserveBytes + mebibyte);
    const space = spaceOn(disk);
    expect(await space.restoreReserve()).toBe(true);
    expect(disk.free).toBe(mebibyte);
    await space.releaseReserve();
    expect(disk.free).toBe(reserveBytes + mebibyte);
    disk.free -= 2 * mebibyte;
    expect(await space.restoreReserve()).toBe(false);
    expect(disk.files.get("reserve")).toBe(reserveBytes / 2);
  });

  it("leaves no file of its own when the nth request fails", async () => {
    for (let nth = 1; nth < 12; nth++) {
      const disk = new FakeDisk(100 * mebibyte);
      let count = 0;
      const failing: DiskService = {
        fetch: (url, init) =>
          ++count === nth ? Promise.reject(new Error("failed")) : disk.fetch(url, init),
      };
      const space = spaceOn(failing);
      await space.findProblem(mebibyte);
      count = Infinity;
      expect(await space.findProblem(mebibyte)).toBeNull();
      expect(space.isFull).toBe(false);
      const left = [...disk.files.keys()].filter((name) => name !== "reserve");
      // Only a file whose removal failed.
      expect(left.length).toBeLessThanOrEqual(1);
    }
  });
});

function presence() {
  const state = { exists: true, now: 1000, looks: 0 };
  const file = new FilePresence({
    async exists() {
      state.looks++;
      return state.exists;
    },
    now: () => state.now,
    folder: "/state/store",
  });
  return { state, file };
}

describe("FilePresence", () => {
  it("isDue when the file was opened long ago, and again when the look is old", async () => {
    const { state, file } = presence();
    expect(file.isDue).toBe(false);
    state.now += validMilliseconds;
    expect(file.isDue).toBe(true);
    await file.look();
    expect(file.isDue).toBe(false);
    state.now += validMilliseconds - 1;
    expect(file.isDue).toBe(false);
    state.now += 1;
    expect(file.isDue).toBe(true);
  });

  it("look() says that the folder was removed, for ever", async () => {
    const { state, file } = presence();
    expect(await file.look()).toBeNull();
    state.exists = false;
    expect(await file.look()).toContain("The folder /state/store was removed while it was in use");
    state.exists = true;
    expect(await file.look()).toContain("was removed");
    expect(file.removedText).toContain("Restart the process that uses the folder");
  });

  it("look() counts the writes since the last look", async () => {
    const { state, file } = presence();
    file.countUnconfirmed();
    expect(file.hasUnconfirmed).toBe(true);
    await file.look();
    expect(file.hasUnconfirmed).toBe(false);
    for (let write = 0; write < 3; write++) file.countUnconfirmed();
    state.exists = false;
    expect(await file.look()).toContain("The last 3 writes that were acknowledged may be lost.");
  });

  it("look() shares a look that is under way", async () => {
    const { state, file } = presence();
    await Promise.all([file.look(), file.look()]);
    expect(state.looks).toBe(1);
  });
});
