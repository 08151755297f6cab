import type { Invocation } from "../../command.ts";
import { parseAddress } from "../object-address.ts";
import { formatBytes } from "../../../base/format.ts";
import { toObjectJson } from "../object-json.ts";
import { print, withStore } from "../with-store.ts";
import { noObject } from "./head.ts";
import { storageClassOption } from "./put.ts";

/** The bytes stay in the runtime. */
export function copyObject(invocation: Invocation): Promise<void> {
  const [source, target] = invocation.arguments as [string, string];
  const from = parseAddress(source);
  const to = parseAddress(target);
  const storageClass = storageClassOption(invocation);
  return withStore(invocation, async (store) => {
    const { name: bucketName } = store.bucket(from.bucket);
    const remote = store.bucket(to.bucket);
    const record = await remote.copy({
      key: to.key,
      from: { bucketName, key: from.key },
      ...(storageClass !== undefined && { storageClass }),
    });
    if (record === null) throw noObject(from.bucket, from.key);
    print(
      invocation,
      toObjectJson(record),
      `${remote.name}/${to.key}: ${formatBytes(record.size)}, etag ${record.etag}`,
    );
  });
}
