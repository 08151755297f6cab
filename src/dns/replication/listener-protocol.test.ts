/** The state of a zone as text: lines, which arrive in pieces. */
import { Readable } from "node:stream";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { defaultSettings } from "../rules/zone-settings.ts";
import type { ZoneData } from "../rules/zone.ts";
import { readState, stateLines } from "./listener-protocol.ts";

function zone(size: number): ZoneData {
  const nameServers = ["ns1.example.net"];
  return {
    id: "z",
    name: "example.org",
    serial: 7,
    paused: false,
    nameServers,
    settings: defaultSettings(nameServers),
    http2: true,
    http3: true,
    records: Array.from({ length: size }, (_, index) => ({
      id: `r${index}`,
      name: `é${index}.example.org`,
      type: "A",
      content: "192.0.2.1",
      priority: null,
      ttl: 60,
      proxied: false,
      settings: {},
    })),
  };
}

it("readState() reads what stateLines() writes, wherever the text is cut", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(0, 1, 1000, 1001, 2500),
      fc.array(fc.nat(), { maxLength: 20 }),
      async (size, cuts) => {
        const text = [...stateLines(zone(size))].join("");
        const at = cuts.map((cut) => cut % text.length).toSorted((a, b) => a - b);
        const pieces = [...at, text.length].map((end, index) =>
          text.slice(at[index - 1] ?? 0, end),
        );
        expect(await readState(Readable.from(pieces))).toEqual(zone(size));
      },
    ),
    { numRuns: 25 },
  );
});

it("readState() refuses a state that is not complete", async () => {
  const text = [...stateLines(zone(3))].join("");
  for (const part of ["", text.slice(0, 20), text.slice(0, -1)]) {
    await expect(readState(Readable.from([part]))).rejects.toThrow("is not complete");
  }
});
