/** Calls of the explorer about one bucket, for the tests. */
import type { ListedObject, ObjectDetails, ObjectPage } from "../../../src/explorer/api/buckets.ts";
import type { TestExplorer } from "./explorer.ts";

/** Thousands of connections at once would be refused. */
const connections = 16;

export async function inTurns<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const rest = items.values();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      for (const item of rest) await work(item);
    }),
  );
}

export class BucketCalls {
  readonly #used: TestExplorer;
  readonly #bucket: string;

  constructor(used: TestExplorer, bucket: string) {
    this.#used = used;
    this.#bucket = bucket;
  }

  path(rest: string, query: Readonly<Record<string, string>> = {}): string {
    const search = new URLSearchParams(query).toString();
    return `/api/buckets/${this.#bucket}${rest}${search === "" ? "" : `?${search}`}`;
  }

  put(
    key: string,
    body: BodyInit = "content",
    { type, ...query }: { type?: string; overwrite?: string } = {},
  ): Promise<ObjectDetails> {
    const headers: Record<string, string> = type === undefined ? {} : { "content-type": type };
    const path = this.path("/content", { key, ...query });
    return this.#used.call<ObjectDetails>(path, { method: "PUT", body, headers });
  }

  /** Many objects, over a few connections. The content of an object is its key. */
  async putAll(keys: readonly string[], type = "text/plain"): Promise<void> {
    await inTurns(keys, (key) => this.put(key, key, { type }));
  }

  head(key: string): Promise<ObjectDetails> {
    return this.#used.call<ObjectDetails>(this.path("/object", { key }));
  }

  /** Replaces the metadata. */
  async change(key: string, change: Partial<ObjectDetails>): Promise<ObjectDetails> {
    const { etag, version, httpMetadata, customMetadata, storageClass } = {
      ...(await this.head(key)),
      ...change,
    };
    return this.#used.call<ObjectDetails>(this.path("/object", { key }), {
      method: "PATCH",
      json: { etag, version, httpMetadata, customMetadata, storageClass },
    });
  }

  get(
    key: string,
    headers: Readonly<Record<string, string>> = {},
    query: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return this.#used.fetch(this.path("/content", { key, ...query }), { headers });
  }

  async text(key: string): Promise<string> {
    return (await this.get(key)).text();
  }

  page(query: Readonly<Record<string, string>> = {}): Promise<ObjectPage> {
    return this.#used.call<ObjectPage>(this.path("/objects", query));
  }

  /** Of all pages. */
  async keys(prefix = ""): Promise<string[]> {
    const objects: ListedObject[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: ObjectPage = await this.page({ prefix, cursor });
      objects.push(...page.objects);
      ({ cursor } = page);
    }
    return objects.map(({ key }) => key);
  }
}
