import type { Invocation } from "../../command.ts";
import { toObjectJson } from "../object-json.ts";
import { print, textOption, withStore } from "../with-store.ts";

/** Lines appear as pages come: a bucket may hold more than memory does. */
export function listObjects(invocation: Invocation): Promise<void> {
  const [word] = invocation.arguments as [string];
  const prefix = textOption(invocation, "prefix") ?? "";
  const delimiter = textOption(invocation, "delimiter") ?? "";
  return withStore(invocation, async (store) => {
    for await (const { objects, prefixes } of store.bucket(word).list({ prefix, delimiter })) {
      for (const found of prefixes) print(invocation, { prefix: found }, `${dashes}  ${found}`);
      for (const object of objects) {
        const json = toObjectJson(object);
        const size = String(object.size).padStart(sizeWidth);
        print(invocation, json, `${size}  ${json.uploaded.slice(0, 19)}Z  ${object.key}`);
      }
    }
  });
}

const sizeWidth = 12;
const dashes = "-".padStart(sizeWidth) + "  " + "-".padEnd(20);
