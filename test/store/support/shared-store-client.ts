/** One runtime and one client of its store, for the tests of a file. */
import { afterAll, beforeAll } from "vitest";
import type { Bucket } from "../../../src/store/node/bucket.ts";
import type { StoreClient } from "../../../src/store/node/store-client.ts";
import { shareStore } from "../../support/store.ts";
import { openStoreClient } from "./store-client.ts";

export interface SharedClient {
  readonly store: ReturnType<typeof shareStore>;
  readonly client: StoreClient;
  /** The bucket of the runtime's script, through the client. */
  readonly photos: Bucket;
}

/** The returned object is filled before the first test. */
export function shareStoreClient(): SharedClient {
  const store = shareStore();
  const shared = { store } as { -readonly [Name in keyof SharedClient]: SharedClient[Name] };
  beforeAll(async () => {
    shared.client = openStoreClient(store().folder);
    shared.photos = (await shared.client.find("photos")) as Bucket;
  });
  afterAll(() => shared.client.close());
  return shared;
}
