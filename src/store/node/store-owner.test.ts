import { expect, it } from "vitest";
import { newRunId } from "../../state/runs.ts";
import { isAbandoned, makeBlobName } from "../core/content.ts";

it("newRunId() fits the names of blobs, which are abandoned when their run is not active", () => {
  const runId = newRunId();
  const blob = makeBlobName(runId, "0".repeat(32));
  expect(isAbandoned(blob, [])).toBe(true);
  expect(isAbandoned(blob, [runId])).toBe(false);
});
