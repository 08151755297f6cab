/** Requests that the record API refuses: code, status and message, and an unchanged zone. */
import { expect, test } from "vitest";
import { badInputs, type BadInput } from "./bad-input/index.ts";
import { type Answer } from "./support/client.ts";
import { useServer } from "./support/use.ts";

/** Every record, and the serial. */
async function records(): Promise<string> {
  return (await client.exportFile(zoneId)).replace(/;; Exported:.*/, "");
}

/** The visible state of the zone. */
async function state(): Promise<string> {
  const paths = [
    `/zones/${zoneId}/dns_records`,
    `/zones/${zoneId}/dns_settings`,
    `/zones/${zoneId}`,
  ];
  const texts = await Promise.all(paths.map(async (path) => (await client.call("GET", path)).text));
  return [await records(), ...texts].join("\n");
}

const { client } = await useServer({
  config: { platform_addresses: ["198.18.0.1", "198.18.0.2", "2001:2::2"] },
});
await client.createZone("neighbour.test");
const zoneId = await client.createZone("example.com");
const posts = [
  { type: "A", name: "www", content: "192.0.2.1" },
  { type: "A", name: "www", content: "192.0.2.2" },
  { type: "CNAME", name: "alias", content: "www.example.com" },
  { type: "NS", name: "delegated", content: "ns.delegated.test" },
  { type: "TXT", name: "text", content: "hello" },
  { type: "MX", name: "@", content: "mail.example.com", priority: 10 },
];
const made = await client.ok("POST", `/zones/${zoneId}/dns_records/batch`, { posts });
const recordId = made.posts[0].id;
const recordsBefore = await records();
const before = await state();

function send({ method, path, body, raw }: BadInput): Promise<Answer> {
  const url = `/zones/${zoneId}${path.replace("{id}", recordId)}`;
  if (raw === undefined) {
    const filled =
      body === undefined
        ? undefined
        : JSON.parse(JSON.stringify(body).replaceAll("{id}", recordId));
    return client.call(method, url, filled);
  }
  return client.send(method, url, {
    body: raw.body,
    headers: raw.type === null ? {} : { "content-type": raw.type },
  });
}

test("the list has at least 300 requests, all different", () => {
  expect(badInputs.length).toBeGreaterThanOrEqual(300);
  const keys = badInputs.map(({ method, path, body, raw }) =>
    JSON.stringify([method, path, body, raw]),
  );
  expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
});

test.each(badInputs.map((input) => [input.title, input] as const))("%s", async (_, input) => {
  const answer = await send(input);
  const errors = input.errors.map(([code, message]) => ({
    code,
    message: message.replace("{zone}", zoneId).replace("{id}", recordId),
  }));
  // The chain of an invalid name has its reason (`record-name.test.ts`).
  const shown = answer.body.errors.map(({ code, message }) => ({ code, message }));
  expect({ ...answer.body, errors: shown }).toEqual({
    result: null,
    success: false,
    errors,
    messages: [],
  });
  expect(answer.status).toBe(input.status);
  expect(await records()).toBe(recordsBefore);
});

test("the settings of the zone are unchanged too", async () => {
  expect(await state()).toBe(before);
});
