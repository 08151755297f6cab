import { NotFoundError, type Invocation } from "../../command.ts";
import { parseAddress } from "../object-address.ts";
import { formatTable } from "../../../base/format.ts";
import { toObjectJson, type ObjectJson } from "../object-json.ts";
import { print, withStore } from "../with-store.ts";

export function headObject(invocation: Invocation): Promise<void> {
  const { bucket, key } = parseAddress(invocation.arguments[0] as string);
  return withStore(invocation, async (store) => {
    const record = await store.bucket(bucket).head(key);
    if (record === null) throw noObject(bucket, key);
    const json = toObjectJson(record);
    print(invocation, json, formatTable(describe(json)));
  });
}

export function noObject(bucket: string, key: string): NotFoundError {
  return new NotFoundError(`There is no object "${key}" in "${bucket}".`);
}

function describe({ httpMetadata, customMetadata, checksums, ...rest }: ObjectJson): string[][] {
  const rows = Object.entries({ ...rest, ...httpMetadata });
  return [
    ...rows.map(([name, value]) => [name, String(value)]),
    ...Object.entries(checksums).map(([name, value]) => [name, value]),
    ...Object.entries(customMetadata).map(([name, value]) => [`custom: ${name}`, value]),
  ];
}
