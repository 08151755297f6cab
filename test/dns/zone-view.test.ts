/** What the edge asks the owner of the zones: a name, at the folder's socket. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { readZoneView } from "../../src/edge/node/zone-view.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { useDns } from "./support/use.ts";

const records = [
  { type: "A", name: "www", content: "127.0.0.1", proxied: true },
  { type: "A", name: "plain", content: "192.0.2.1" },
];
const running = await useDns({ zones: [{ name: "example.org", records }] }, { listen: false });
const state = join(running.folder, ".wrangler/state");

it("has the records of a name, also right after a change", async () => {
  const www = { name: "www.example.org", type: "A", content: "127.0.0.1", proxied: true };
  expect(await readZoneView(state, "WWW.example.org")).toEqual({
    zoneName: "example.org",
    records: [www],
    names: [],
  });
  expect(await readZoneView(state, "new.example.org")).toEqual({
    zoneName: "example.org",
    records: [],
    names: ["plain.example.org", "www.example.org"],
  });
  const { body } = await running.client.call("GET", "/zones?name=example.org");
  const path = `/zones/${body.result[0].id}/dns_records`;
  const created = { type: "A", name: "new", content: "127.0.0.2", proxied: true };
  await running.client.call("POST", path, created);
  expect(await readZoneView(state, "new.example.org")).toMatchObject({
    records: [{ name: "new.example.org", content: "127.0.0.2", proxied: true }],
  });
});

it("has nothing for a name of no zone, and where no process serves zones", async () => {
  expect(await readZoneView(state, "example.com")).toBeNull();
  expect(await readZoneView(state, "a b")).toBeNull();
  expect(await readZoneView(temporaryFolder(), "www.example.org")).toBeNull();
});

it("is not for clients with keys", async () => {
  const url = new URL("/edge/zone?host=www.example.org", running.dns.url);
  expect((await fetch(url)).status).not.toBe(200);
});
