import type { Invocation } from "../../command.ts";
import { formatTable } from "../../../base/format.ts";
import { findProject } from "../project.ts";
import { print } from "../with-store.ts";

export function listBuckets(invocation: Invocation): void {
  const { buckets } = findProject(invocation.options);
  print(
    invocation,
    buckets.map(({ bucketName, bindings, storageClass }) => ({
      name: bucketName,
      bindings,
      storageClass,
    })),
    formatTable(
      buckets.map(({ bucketName, bindings }) => [
        bucketName,
        bindings.length === 0
          ? "(not configured)"
          : bindings.map((name) => `env.${name}`).join(", "),
      ]),
    ),
  );
}
