import { env, exports } from "cloudflare:workers";
import { expect, it } from "vitest";

const request = (name: string, init?: RequestInit) =>
  exports.default.fetch(new Request(`http://notes.test/notes/${name}`, init));

it("keeps a note", async () => {
  expect((await request("milk", { method: "PUT", body: "two bottles" })).status).toBe(201);
  expect(await (await request("milk")).text()).toBe("two bottles");
  expect(await (await request("")).json()).toEqual(["milk"]);
});

it("begins without notes", async () => {
  expect((await request("milk")).status).toBe(404);
  expect((await env.NOTES.list()).objects).toEqual([]);
});
