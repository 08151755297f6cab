import { expect, it } from "vitest";
import { objectClasses } from "./durable-objects.ts";

it("objectClasses() follows the migrations", () => {
  expect(objectClasses(undefined)).toEqual([]);
  const migrations = [
    { tag: "v1", new_classes: ["Old", "Gone"] },
    { tag: "v2", new_sqlite_classes: ["Counter"] },
    { tag: "v3", renamed_classes: [{ from: "Old", to: "New" }], deleted_classes: ["Gone"] },
  ];
  expect(objectClasses(migrations)).toEqual([
    { className: "Counter", uniqueKey: "Counter", hasSql: true },
    { className: "New", uniqueKey: "Old", hasSql: false },
  ]);
});
