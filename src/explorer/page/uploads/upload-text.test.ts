import { describe, expect, it } from "vitest";
import type { UploadState } from "./upload-item.ts";
import { percent, statusText, transferText } from "./upload-text.ts";

const mib = 1024 * 1024;
const item = { message: null, key: "a/report.bin", size: 100 * mib, sentBytes: 43.9 * mib };
const here = { isAway: false, bytesPerSecond: null };
const text = (state: UploadState, message: string | null = null, queue = here) =>
  statusText({ ...item, state, message }, queue);

describe("statusText()", () => {
  it("says what a file waits for", () => {
    expect(text("queued")).toBe("Waiting, 100.0 MiB");
    expect(text("paused")).toBe("Paused at 43.9 MiB of 100.0 MiB");
    expect(text("without file")).toBe("43 % uploaded; choose the file again to go on.");
    expect(text("exists")).toContain("“a/report.bin”");
  });

  it("has the message of the server", () => {
    expect(text("failed", "The bucket is gone.")).toBe("Failed: The bucket is gone.");
    expect(text("differs", "It has 3 bytes.")).toContain("It has 3 bytes. Choose");
  });

  it("says that an upload waits for the explorer", () => {
    expect(text("uploading", null, { isAway: true, bytesPerSecond: null })).toContain(
      "Waiting for",
    );
    expect(text("uploading", "From the start.")).toBe("43.9 MiB of 100.0 MiB. From the start.");
  });
});

describe("transferText()", () => {
  it("has the rate and the time left when they are known", () => {
    const transfer = { bytes: 100 * mib, sentBytes: 40 * mib };
    expect(transferText({ ...transfer, bytesPerSecond: null })).toBe("40.0 MiB of 100.0 MiB");
    expect(transferText({ ...transfer, bytesPerSecond: mib })).toBe(
      "40.0 MiB of 100.0 MiB · 1.0 MiB/s · about 1 minute left",
    );
  });
});

describe("percent()", () => {
  it("is rounded down", () => {
    expect(percent(999, 1000)).toBe(99);
    expect(percent(0, 0)).toBe(0);
  });
});
