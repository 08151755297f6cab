import { describe, expect, it } from "vitest";
import { FilePresence, validMilliseconds } from "./file-presence.ts";

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
