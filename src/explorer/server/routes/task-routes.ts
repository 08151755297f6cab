/** Tasks: deletions, copies and moves of many objects, and deletions of records. */
import * as v from "valibot";
import { json, type ExplorerResponse, readInput } from "../call.ts";
import { type ExplorerCall, type Route } from "../context.ts";

const selection = {
  bucket: v.string("must be text"),
  keys: v.array(v.string("must be text"), "must be a list of keys"),
  prefixes: v.array(v.string("must be text"), "must be a list of folders"),
};

const newTaskSchema = v.variant(
  "kind",
  [
    v.object({ kind: v.literal("delete"), ...selection }),
    v.object({
      kind: v.picklist(["copy", "move"]),
      ...selection,
      to: v.object({ bucket: v.string("must be text"), key: v.string("must be text") }),
      overwrite: v.boolean("must be true or false"),
    }),
    v.object({
      kind: v.literal("deleteRecords"),
      zone: v.string("must be text"),
      zoneName: v.string("must be text"),
      records: v.array(
        v.object({
          id: v.string("must be text"),
          name: v.string("must be text"),
          type: v.string("must be text"),
        }),
        "must be a list of records",
      ),
    }),
  ],
  "must be delete, copy, move or deleteRecords",
);

async function list({ context }: ExplorerCall): Promise<ExplorerResponse> {
  return json(context.tasks.list());
}

async function start(call: ExplorerCall): Promise<ExplorerResponse> {
  return json(await call.context.tasks.start(await readInput(call, newTaskSchema)), 201);
}

async function cancel({ context, parameters }: ExplorerCall): Promise<ExplorerResponse> {
  return json(context.tasks.cancel(parameters["id"] as string));
}

export const taskRoutes: readonly Route[] = [
  { method: "GET", path: "/api/tasks", handle: list },
  { method: "POST", path: "/api/tasks", handle: start },
  { method: "DELETE", path: "/api/tasks/:id", handle: cancel },
];
