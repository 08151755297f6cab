/** Reads and replaces the faults (`api/faults.ts`). */
import * as v from "valibot";
import type { FaultsState } from "../../api/faults.ts";
import { json, readInput, type ExplorerResponse } from "../call.ts";
import type { ExplorerCall, Route } from "../context.ts";

const bucketPresets: FaultsState["presets"] = [
  {
    label: "All writes fail",
    text: "put,delete,createMultipartUpload,uploadPart,completeMultipartUpload,abortMultipartUpload:*:10001",
  },
  { label: "Reads drop half-way", text: "get:*:drop" },
  { label: "Writes are stored, their answers are lost", text: "put:*:drop:when=after" },
  { label: "Half of the writes are too many requests", text: "put:*:10058:probability=0.5" },
];
const dnsPresets: FaultsState["presets"] = [
  { label: "The name server answers SERVFAIL", text: "dns:servfail:*" },
  { label: "The name server does not answer", text: "dns:drop:*" },
];

const faultsSchema = v.object({
  faults: v.array(v.string("must be text"), "must be a list of texts"),
  latencyMilliseconds: v.number("must be a number"),
  clockOffsetMilliseconds: v.number("must be a number"),
});

async function describe(
  { context }: ExplorerCall,
  state: Omit<FaultsState, "presets">,
): Promise<ExplorerResponse> {
  const hasDns = (await context.project()).dns !== null;
  const presets = hasDns ? [...bucketPresets, ...dnsPresets] : bucketPresets;
  return json({ ...state, presets } satisfies FaultsState);
}

export const faultRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/faults",
    handle: async (call) => describe(call, await call.context.faults.read()),
  },
  {
    method: "PUT",
    path: "/api/faults",
    handle: async (call) =>
      describe(call, await call.context.faults.change(await readInput(call, faultsSchema))),
  },
];
