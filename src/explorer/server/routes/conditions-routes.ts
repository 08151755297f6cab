/** Reads and replaces the conditions (`api/conditions.ts`). */
import * as v from "valibot";
import type { Conditions } from "../../api/conditions.ts";
import { CallError, json, readJson, type ExplorerCall, type Route } from "../call.ts";

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
    handle: async (call) => json(await call.context.conditions.change(await readBody(call))),
  },
];

/** @throws CallError */
async function readBody(call: ExplorerCall): Promise<Conditions> {
  const { success, output, issues } = v.safeParse(conditionsSchema, await readJson(call));
  if (success) return output;
  const [issue] = issues;
  throw new CallError(
    400,
    `The conditions cannot be read: ${v.getDotPath(issue) ?? "the body"} is ${issue.received}, ` +
      `and has to be ${issue.expected}.`,
  );
}
