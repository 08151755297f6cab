/** Zones on a device that becomes full while DNS runs, and has space again. */
import assert from "node:assert/strict";
import { Resolver } from "node:dns/promises";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startDns } from "../../../../dist/index.js";
import { checkDatabases, device, fill, free, reserveExists, until } from "./device.ts";

const zone = "example.org";
const headers = {
  "x-auth-email": "a@example.org",
  "x-auth-key": "0123456789abcdef0123456789abcdef01234",
  "content-type": "application/json",
};
writeFileSync(
  join(device, "wrangler.jsonc"),
  JSON.stringify({
    name: "project",
    compatibility_date: "2026-08-01",
    dns: { email: headers["x-auth-email"], key: headers["x-auth-key"], zones: [{ name: zone }] },
  }),
);
const options = { configPath: join(device, "wrangler.jsonc"), port: 0, dnsPort: 0, log: () => {} };
const folder = join(device, ".wrangler/state/v3/dns");

interface Reply {
  readonly status: number;
  readonly result: { readonly id: string }[] & { readonly id: string };
  readonly message: string | undefined;
}

let dns = await startDns(options);
const call = async (method: string, path: string, body?: object): Promise<Reply> => {
  const response = await fetch(`${dns.url}${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  const { result, errors } = (await response.json()) as Pick<Reply, "result"> & {
    readonly errors: { readonly message: string }[];
  };
  return { status: response.status, result, message: errors[0]?.message };
};
const record = (index: number) => ({
  type: "TXT",
  name: `r${index}.${zone}`,
  content: `"${"x".repeat(200)}"`,
});

const zoneId = (await call("GET", "/zones")).result[0]?.id;
const records = `/zones/${zoneId}/dns_records`;
const ids: string[] = [];
for (let index = 0; index < 20; index++) {
  const { status, result } = await call("POST", records, record(index));
  assert.equal(status, 200);
  ids.push(result.id);
}
await until("the reserve", () => reserveExists(folder));
const resolver = new Resolver();
resolver.setServers([`127.0.0.1:${dns.dnsPort}`]);
const answers = async (index: number): Promise<boolean> =>
  resolver.resolveTxt(`r${index}.${zone}`).then(
    () => true,
    () => false,
  );

fill();
assert.equal((await call("GET", records)).result.length, 20);
// A delete works as the first write of all.
assert.equal((await call("DELETE", `${records}/${ids[0]}`)).status, 200);
await until("the reserve", () => reserveExists(folder));
fill();
// Writes fail one after the other, and the API says which device is full.
let refused: Reply;
let created = 20;
do refused = await call("POST", records, record(created++));
while (refused.status === 200);
assert.equal(refused.status, 507);
assert.match(
  refused.message ?? "",
  new RegExp(`^No space left on the device that holds ${folder}`),
);
created--;
assert.equal(
  (await call("PATCH", `${records}/${ids[2]}`, { comment: "x".repeat(50) })).status,
  507,
);
assert.equal((await call("DELETE", `${records}/${ids[1]}`)).status, 200);
assert.equal((await call("GET", `${records}?per_page=1000`)).result.length, created - 2);
// The name server answers what is stored, and nothing else.
assert.deepEqual(await Promise.all([answers(0), answers(1), answers(2), answers(created)]), [
  false,
  false,
  true,
  false,
]);

free();
assert.equal((await call("POST", records, record(created))).status, 200);
assert.ok(await answers(created));
const stored = (await call("GET", `${records}?per_page=1000`)).result.length;
assert.equal(stored, created - 1);
await dns.stop();
checkDatabases(folder);
dns = await startDns(options);
assert.equal((await call("GET", `${records}?per_page=1000`)).result.length, stored);
await dns.stop();
