import { expect, test } from "vitest";
import { parseLsof } from "./runtimes.ts";

test("parseLsof() has the files of each process", () => {
  const text =
    "p12\nfcwd\nn/state/v3\nf9u\nn/state/v3/kv/a b.sqlite\np7\nf3\nn/state/v3/dns/lock\n";
  expect(parseLsof(text)).toEqual([
    { processId: 12, paths: ["/state/v3", "/state/v3/kv/a b.sqlite"] },
    { processId: 7, paths: ["/state/v3/dns/lock"] },
  ]);
  expect(parseLsof("")).toEqual([]);
});
