/** A client's readiness to become the owner of the store (`base/succession.ts`). */
import { Succession } from "../../base/succession.ts";
import { takeStore } from "./store-owner.ts";
import { TemporaryRuntime } from "./temporary-runtime.ts";

export interface StoreFolder {
  /** The folder in which Miniflare persists its resources. */
  readonly persistPath: string;
  /** The store's folder below `persistPath`. */
  readonly folder: string;
}

export function succeedStoreOwner(
  { persistPath, folder }: StoreFolder,
  beforeHandover?: () => Promise<void>,
): Succession {
  return new Succession({
    folder,
    take: (onHandover) => takeStore(folder, { isBrief: true, onHandover }),
    start: (owner) => TemporaryRuntime.start(persistPath, owner),
    ...(beforeHandover !== undefined && { beforeHandover }),
  });
}
