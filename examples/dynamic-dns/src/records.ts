/** The records of a name, through the record API that `env.DNS` is. */
import type { RecordType, Update } from "./update.ts";

interface Answer<Result> {
  success: boolean;
  errors: { code: number; message: string }[];
  result: Result;
}

interface StoredRecord {
  id: string;
  type: RecordType;
  content: string;
}

/** Short, for the next address may come any time: the least that a record may have. */
const ttlSeconds = 60;

/**
 * Gives `host` the addresses, both or none: they are one batch, and a batch is one transaction. A
 * family that is not among them stays as it is.
 */
export async function moveHost(
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
    // A name that moves has one address.
    batch.deletes.push(...others.map(({ id }) => ({ id })));
  }
  if (Object.values(batch).every((operations) => operations.length === 0)) return "nochg";
  await call(dns, "POST", `${records}/batch`, batch);
  return "good";
}

/** The id of the zone that has `host`: of nested ones the nearest. */
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

/** IPv6 has many spellings of one address. */
function canonical(address: string): string {
  return address.includes(":") ? new URL(`http://[${address}]/`).hostname : address;
}

async function call<Result>(dns: Fetcher, method: string, path: string, body?: object) {
  const response = await dns.fetch(`http://dns/client/v4/${path}`, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  const answer = await response.json<Answer<Result>>();
  if (answer.success) return answer.result;
  throw new Error(answer.errors.map(({ code, message }) => `${message} (${code})`).join("; "));
}
