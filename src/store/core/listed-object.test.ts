import { expect, it } from "vitest";
import { decodeListedObjects } from "./listed-object.ts";

const tuple = ["k", "v1", 5, "e", 1000, { md5: "aa" }, "InfrequentAccess"];
const object = {
  key: "k",
  version: "v1",
  size: 5,
  etag: "e",
  uploaded: 1000,
  checksums: { md5: "aa" },
  storageClass: "InfrequentAccess",
};

it.each([
  ["neither kind of metadata", [null, null], {}],
  ["HTTP metadata only", [{ contentType: "a/b" }, null], { http: { contentType: "a/b" } }],
  ["custom metadata only", [null, { a: "b" }], { custom: { a: "b" } }],
  ["both kinds, though empty", [{}, {}], { http: {}, custom: {} }],
])("decodeListedObjects() reads an object with %s", (_, metadata, expected) => {
  const json = JSON.stringify([[...tuple, ...metadata]]);
  expect(decodeListedObjects(json)).toStrictEqual([{ ...object, ...expected }]);
});

it("decodeListedObjects() reads an empty page", () => {
  expect(decodeListedObjects("[]")).toStrictEqual([]);
});

it("decodeListedObjects() keeps the order and the text of the keys", () => {
  const keys = ["b", "a", "\u{1f600}\uff5e", '"\\\0\n'];
  const json = JSON.stringify(keys.map((key) => [key, ...tuple.slice(1), null, null]));
  expect(decodeListedObjects(json).map(({ key }) => key)).toStrictEqual(keys);
});
