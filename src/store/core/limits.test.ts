import { expect, it } from "vitest";
import * as limits from "./limits.ts";

it("limits are the numbers of the specification", () => {
  expect({ ...limits }).toStrictEqual({
    keyBytesMax: 1024,
    metadataBytesMax: 8192,
    // 4.995 TiB
    objectBytesMax: 5_492_060_580_741,
    // 5 GiB - 5 MiB
    uploadBytesMax: 5_363_466_240,
    partBytesMin: 5_242_880,
    partNumberMax: 10_000,
    listLimitMax: 1000,
    listPageBytesMax: 262_144,
    deleteKeysMax: 1000,
    // 7 days
    uploadLifetimeMilliseconds: 604_800_000,
    // Ours.
    inlineBytesMax: 131_072,
  });
});
