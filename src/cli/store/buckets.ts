/** `ledge store buckets` */
import { formatTable } from "../../base/format.ts";
import type { LeafCommand } from "../command.ts";
import { projectOptions } from "../options.ts";
import { print } from "../output.ts";
import { findProject } from "./open-store.ts";

export const buckets: LeafCommand = {
  name: "buckets",
  summary: "Lists the buckets of the configuration and the buckets on disk",
  options: projectOptions,

  async run(invocation) {
    const project = await findProject(invocation);
    print(
      invocation,
      project.buckets.map(({ bucketName, bindings, storageClass, remote }) => ({
        name: bucketName,
        bindings,
        storageClass,
        ...(remote !== undefined && { remote: remote.remote, endpoint: remote.endpoint }),
      })),
      formatTable(
        project.buckets.map(({ bucketName, bindings, remote }) => [
          bucketName,
          bindings.length === 0
            ? "(not configured)"
            : bindings.map((name) => `env.${name}`).join(", "),
          remote === undefined ? "" : `on ${remote.remote}, ${remote.endpoint}`,
        ]),
      ),
    );
  },
};
