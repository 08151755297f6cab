import { describe, expect, it } from "vitest";
import { renderSummary } from "./summary.ts";

const url = "http://localhost:8787";
const nothing = {
  url,
  inspector: null,
  buckets: [],
  storeFolder: "/p/s",
  storeLatencyMilliseconds: 0,
  dns: [],
};

describe("renderSummary()", () => {
  it("is one line for a script without buckets and DNS", () => {
    expect(renderSummary(nothing, "/p")).toBe("Ready      http://localhost:8787");
  });

  it("lists the folder, the buckets by the name that is used locally, and DNS", () => {
    const summary = {
      ...nothing,
      buckets: [
        { binding: "A", bucketName: "photos" },
        { binding: "LONGER", bucketName: "videos", previewBucketName: "videos-preview" },
      ],
      storeLatencyMilliseconds: 80,
      dns: ["DNS API    http://127.0.0.1:8788\n  key      k", "DNS        8053"],
    };
    expect(renderSummary(summary, "/p").split("\n")).toEqual([
      "Ready      http://localhost:8787",
      "Buckets    s, each operation 80 ms late",
      "  env.A       photos",
      "  env.LONGER  videos-preview",
      "DNS API    http://127.0.0.1:8788",
      "  key      k",
      "DNS        8053",
    ]);
  });

  it("shows the address of an inspector that was asked for", () => {
    expect(renderSummary({ ...nothing, inspector: "127.0.0.1:9229" }, "/p")).toBe(
      "Ready      http://localhost:8787\nInspector  127.0.0.1:9229",
    );
  });

  it("shows the full path of a folder outside the working folder", () => {
    const summary = { ...nothing, buckets: [{ binding: "A", bucketName: "photos" }] };
    expect(renderSummary(summary, "/elsewhere")).toContain("Buckets    /p/s\n");
  });
});
