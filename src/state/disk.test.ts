import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  DatabaseFile,
  DiskSpace,
  reserveBytes,
  validMilliseconds,
  type DiskService,
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
    return { ok, status: ok ? 200 : 404, headers, body: null };
  }
}

const mebibyte = 1024 * 1024;

function spaceOn(disk: DiskService): DiskSpace {
  return new DiskSpace({ disk, folder: "/state/store", isFull: false });
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

function openFile() {
  const disk = new FakeDisk(100 * mebibyte);
  disk.files.set("photos.sqlite", 4096);
  const fetched = vi.spyOn(disk, "fetch");
  const file = new DatabaseFile(spaceOn(disk), "http://disk/photos.sqlite", () => {});
  return { disk, fetched, file };
}

describe("DatabaseFile", () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1000 }));
  afterEach(() => vi.useRealTimers());

  it("confirmAtOnce() is false when the file was opened long ago, and when the look is old", async () => {
    const { file } = openFile();
    expect(file.confirmAtOnce(true)).toBe(true);
    vi.setSystemTime(1000 + validMilliseconds);
    expect(file.confirmAtOnce(true)).toBe(false);
    await file.look();
    expect(file.confirmAtOnce(true)).toBe(true);
    vi.setSystemTime(1000 + 2 * validMilliseconds);
    expect(file.confirmAtOnce(true)).toBe(false);
  });

  it("look() says that the folder was removed, for ever", async () => {
    const { disk, file } = openFile();
    expect(await file.look()).toBeNull();
    disk.files.clear();
    expect(await file.look()).toContain("The folder /state/store was removed while it was in use");
    disk.files.set("photos.sqlite", 4096);
    expect(await file.look()).toContain("was removed");
    expect(file.removedText).toContain("Restart the process that uses the folder");
  });

  it("look() counts the writes since the last look", async () => {
    const { disk, file } = openFile();
    file.confirmAtOnce(false);
    await file.look();
    for (let write = 0; write < 3; write++) file.confirmAtOnce(false);
    disk.files.clear();
    expect(await file.look()).toContain("The last 3 writes that were acknowledged may be lost.");
  });

  it("looks after a write that was acknowledged at once, even if no call follows", async () => {
    const { disk, file } = openFile();
    const logged = vi.spyOn(console, "error").mockReturnValue();
    file.confirmAtOnce(false);
    disk.files.clear();
    await vi.advanceTimersByTimeAsync(validMilliseconds);
    expect(logged).toHaveBeenCalledWith(expect.stringContaining("The last write that was"));
    logged.mockRestore();
  });

  it("look() shares a look that is under way", async () => {
    const { fetched, file } = openFile();
    await Promise.all([file.look(), file.look()]);
    expect(fetched).toHaveBeenCalledTimes(1);
  });
});
