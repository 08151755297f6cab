/** Reads and replaces the conditions (`api/conditions.ts`). */
import * as v from "valibot";
import { json, readInput } from "../call.ts";
import type { Route } from "../context.ts";

const faultsSchema = v.array(v.object({ text: v.string() }));
const conditionsSchema = v.object({
  bucketFaults: faultsSchema,
  dnsFaults: faultsSchema,
  latencyMilliseconds: v.number(),
  clockOffsetMilliseconds: v.number(),
});

export const conditionsRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/conditions",
    handle: async ({ context }) => json(await context.conditions.read()),
  },
  {
    method: "PUT",
    path: "/api/conditions",
    handle: async (call) =>
      json(await call.context.conditions.change(await readInput(call, conditionsSchema))),
  },
];
