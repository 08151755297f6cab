import { expect, it } from "vitest";
import type { StateChange } from "../../api/state.ts";
import { groupChanges } from "./difference.ts";

it("groupChanges() makes a group for each place, with its counts", () => {
  const photos = { kind: "bucket", place: "photos" } as const;
  const changes: readonly StateChange[] = [
    { ...photos, what: "a.jpg", change: "added" },
    { kind: "R2", place: "photos", what: "a.jpg", change: "changed" },
    { ...photos, what: "b.jpg", change: "removed" },
    { ...photos, what: "c.jpg", change: "added" },
  ];
  expect(groupChanges(changes)).toEqual([
    {
      title: "bucket photos",
      counts: "2 added, 1 removed",
      changes: [changes[0], changes[2], changes[3]],
    },
    { title: "R2 photos", counts: "1 changed", changes: [changes[1]] },
  ]);
  expect(groupChanges([])).toEqual([]);
});
