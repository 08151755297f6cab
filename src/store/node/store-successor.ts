/** A client's readiness to become the owner of the store (`state/succession.ts`). */
import { Succession } from "../../state/succession.ts";
import { takeStore } from "./store-owner.ts";
import { TemporaryRuntime } from "./temporary-runtime.ts";

export function succeedStoreOwner(
  folder: string,
  beforeHandover?: () => Promise<void>,
): Succession {
  return new Succession({
    folder,
    take: (onHandover) => takeStore(folder, { isBrief: true, onHandover }),
    start: (owner) => TemporaryRuntime.start(owner),
    ...(beforeHandover !== undefined && { beforeHandover }),
  });
}
