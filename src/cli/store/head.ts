/** `ledge store head` */
import { formatTable } from "../../base/format.ts";
import { headObject } from "../../store/node/bucket-objects.ts";
import type { LeafCommand } from "../command.ts";
import { projectOptions } from "../options.ts";
import { print } from "../output.ts";
import { objectNotFound, parseAddress } from "./object-address.ts";
import { toObjectJson } from "./object-json.ts";
import { withStore } from "./open-store.ts";
import { objectArgument } from "./parameters.ts";

export const head: LeafCommand = {
  name: "head",
  summary: "Shows the metadata of an object",
  arguments: [objectArgument],
  options: projectOptions,

  async run(invocation) {
    const address = parseAddress(invocation.arguments[0] as string);
    await withStore(invocation, async (store) => {
      const record = await headObject(store.bucket(address.bucket), address.key);
      if (record === null) throw objectNotFound(address);
      const json = toObjectJson(record);
      print(invocation, json, formatTable(metadataRows(json)));
    });
  },
};

function metadataRows(object: ReturnType<typeof toObjectJson>): string[][] {
  const { httpMetadata, customMetadata, checksums, s3Checksums = {}, ...rest } = object;
  const rows = Object.entries({ ...rest, ...httpMetadata });
  return [
    ...rows.map(([name, value]) => [name, String(value)]),
    ...Object.entries({ ...checksums, ...s3Checksums }).map(([name, value]) => [name, value]),
    ...Object.entries(customMetadata).map(([name, value]) => [`custom: ${name}`, value]),
  ];
}
