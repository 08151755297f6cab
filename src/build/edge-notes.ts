/** The file that explains a build to the person who runs it. */
import { edgePaths } from "./edge-config.ts";

export interface EdgeNotes {
  readonly workerdVersion: string;
  readonly address: string;
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly remotes: readonly { readonly binding: string; readonly place: string }[];
  readonly hasObjects: boolean;
  readonly remarks: readonly string[];
}

export function edgeNotes(notes: EdgeNotes): string {
  const { workerdVersion, address, required, optional, remotes, hasObjects, remarks } = notes;
  const hasBuckets = remotes.length > 0;
  return [
    "# A script for workerd",
    "",
    "`ledge build` has written this folder. It needs workerd and nothing else: no Node, no npm.",
    "",
    "```sh",
    `cd THIS_FOLDER && workerd serve ${edgePaths.config}`,
    "```",
    "",
    `- workerd ${workerdVersion} is the version of the build. Use the same version, or a later one after a test.`,
    `- The script listens at ${address}. Another address: \`--socket-addr=http=0.0.0.0:8080\`.`,
    ...(hasBuckets
      ? [
          `- \`${edgePaths.spool}/\` holds large content while it is sent. The folder may be emptied while no ` +
            "runtime uses it. Another folder: `--directory-path=spool=DIR`.",
        ]
      : []),
    ...(hasObjects
      ? [
          `- \`${edgePaths.objects}/\` holds the databases of the Durable Objects. One runtime at a time may use ` +
            "the folder, and another machine has other objects.",
        ]
      : []),
    "- The log is on standard output, a line of JSON for each entry.",
    ...remarks.map((remark) => `- ${remark}`),
    "",
    ...(required.length > 0
      ? [
          "The environment of the runtime needs these variables, which no file of the build contains:",
          "",
          "```sh",
          ...required.map((name) => `${name}=`),
          ...optional.map((name) => `# ${name}=   for temporary keys`),
          "```",
          "",
        ]
      : []),
    ...(hasBuckets
      ? [
          "Buckets:",
          "",
          ...remotes.map(({ binding, place }) => `- \`env.${binding}\`: ${place}`),
          "",
        ]
      : []),
  ].join("\n");
}
