/** `ledge store list` */
import { listPages } from "../../store/node/bucket-objects.ts";
import type { LeafCommand } from "../command.ts";
import { projectOptions, textOption } from "../options.ts";
import { print } from "../output.ts";
import { toObjectJson } from "./object-json.ts";
import { withStore } from "./open-store.ts";
import { bucketArgument } from "./parameters.ts";

const sizeWidth = 12;
const prefixColumns = "-".padStart(sizeWidth) + "  " + "-".padEnd(20);

export const listObjects: LeafCommand = {
  name: "list",
  summary: "Lists objects in the order of their keys",
  details: "With --json, each object is one line.",
  arguments: [bucketArgument],
  options: {
    prefix: { summary: "Lists only keys with this prefix", value: "PREFIX" },
    delimiter: { summary: "Groups keys by the part before this text", value: "TEXT" },
    ...projectOptions,
  },
  examples: ["ledge store list photos --prefix 2026/ --delimiter /"],

  async run(invocation) {
    const [word] = invocation.arguments as [string];
    const prefix = textOption(invocation, "prefix") ?? "";
    const delimiter = textOption(invocation, "delimiter") ?? "";
    await withStore(invocation, async (store) => {
      // Each page is printed as it arrives: a listing may be larger than the memory.
      const pages = listPages(store.bucket(word), { prefix, delimiter });
      for await (const { objects, prefixes } of pages) {
        for (const group of prefixes) {
          print(invocation, { prefix: group }, `${prefixColumns}  ${group}`);
        }
        for (const object of objects) {
          const json = toObjectJson(object);
          const size = String(object.size).padStart(sizeWidth);
          print(invocation, json, `${size}  ${json.uploaded.slice(0, 19)}Z  ${object.key}`);
        }
      }
    });
  },
};
