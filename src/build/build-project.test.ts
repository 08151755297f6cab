import { expect, it } from "vitest";
import { assumedFeatures, objectClasses } from "./build-project.ts";

it("assumedFeatures() has no feature whose lack is accepted", () => {
  expect(assumedFeatures([])).toEqual({
    putIfMatch: "quoted",
    putIfNoneMatch: true,
    conditionalComplete: true,
    conditionalDelete: true,
    unconditionalPut: null,
    unconditionalDelete: false,
    etagIsMd5: false,
    service: { server: "", versioning: "unknown" },
    seen: {},
  });
  expect(assumedFeatures(["conditional-put", "conditional-delete"])).toEqual({
    putIfMatch: null,
    putIfNoneMatch: false,
    conditionalComplete: true,
    conditionalDelete: false,
    unconditionalPut: null,
    unconditionalDelete: false,
    etagIsMd5: false,
    service: { server: "", versioning: "unknown" },
    seen: {
      "conditional-put": "the configuration accepts it",
      "conditional-delete": "the configuration accepts it",
    },
  });
});

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
