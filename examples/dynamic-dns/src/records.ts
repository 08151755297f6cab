/** The address records of a name, through the record API at `env.DNS`. */
import type { RecordType, Update } from "./update.ts";

interface ApiResponse<Result> {
  success: boolean;
  errors: { code: number; message: string }[];
  result: Result;
}

interface StoredRecord {
  id: string;
  type: RecordType;
  content: string;
}

/** The minimum of the record API, because the address may change at any time. */
const ttlSeconds = 60;

/**
 * Sets the addresses of `host` in one batch, which is one transaction. The record of an address
 * family without a new address stays.
 */
export async function updateHost(
  dns: Fetcher,
  host: string,
  addresses: Update["addresses"],
): Promise<"good" | "nochg" | "nohost"> {
  const zone = await findZone(dns, host);
  if (zone === null) return "nohost";
  const records = `zones/${zone}/dns_records`;

  const batch = { patches: [] as object[], posts: [] as object[], deletes: [] as object[] };
  for (const [type, content] of Object.entries(addresses)) {
    const query = `name.exact=${host}&type=${type}`;
    const [first, ...others] = await call<StoredRecord[]>(dns, "GET", `${records}?${query}`);
    if (first === undefined) {
      batch.posts.push({ type, name: host, content, ttl: ttlSeconds });
    } else if (!sameAddress(first.content, content)) {
      batch.patches.push({ id: first.id, content });
    }
    // The name keeps one address of each family.
    batch.deletes.push(...others.map(({ id }) => ({ id })));
  }
  if (Object.values(batch).every((operations) => operations.length === 0)) return "nochg";
  await call(dns, "POST", `${records}/batch`, batch);
  return "good";
}

/** The id of the zone that contains `host`; of nested zones, the innermost. */
async function findZone(dns: Fetcher, host: string): Promise<string | null> {
  const labels = host.split(".");
  for (let start = 0; start < labels.length - 1; start += 1) {
    const name = labels.slice(start).join(".");
    const [zone] = await call<{ id: string }[]>(dns, "GET", `zones?name=${name}`);
    if (zone !== undefined) return zone.id;
  }
  return null;
}

function sameAddress(one: string, other: string): boolean {
  return canonical(one) === canonical(other);
}

/** IPv6 allows several spellings of one address. */
function canonical(address: string): string {
  return address.includes(":") ? new URL(`http://[${address}]/`).hostname : address;
}

async function call<Result>(dns: Fetcher, method: string, path: string, body?: object) {
  const response = await dns.fetch(`http://dns/client/v4/${path}`, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  const { success, result, errors } = await response.json<ApiResponse<Result>>();
  if (success) return result;
  throw new Error(errors.map(({ code, message }) => `${message} (${code})`).join("; "));
}
