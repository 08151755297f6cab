/** The routes of saved states. The control of the state is the dev server's, or the folder's without one. */
import * as v from "valibot";
import { NotFoundError, UserError } from "../../base/user-error.ts";
import type { StateControl } from "../../saved/state-control.ts";
import type { Restored, SavedState, StateDifference, StateList } from "../api/state.ts";
import type { ChangeFeed } from "./activity-log.ts";
import {
  CallError,
  json,
  readInput,
  requireParameter,
  type ExplorerCall,
  type Route,
} from "./call.ts";
import type { StoreTasks } from "./tasks.ts";

const namedSchema = v.object({ name: v.string("must be text") });
const saveSchema = v.object({
  ...namedSchema.entries,
  replace: v.optional(v.boolean("must be true or false"), false),
});

type Work = (state: StateControl, call: ExplorerCall) => Promise<unknown>;

export function stateRoutes(of: {
  readonly control: () => Promise<StateControl>;
  readonly changes: Pick<ChangeFeed, "add">;
  /** Cancelled by a restore: what they are about is not what they began with. */
  readonly tasks: Pick<StoreTasks, "cancelAll">;
}): readonly Route[] {
  const restore = async (work: () => Promise<Restored>): Promise<Restored> => {
    await of.tasks.cancelAll();
    const restored = await work();
    // Every list of the page is out of date.
    of.changes.add({ topic: "all" });
    return restored;
  };
  const works: readonly (readonly [Route["method"], string, Work])[] = [
    ["GET", "", async (state): Promise<StateList> => ({ states: await state.list() })],
    [
      "POST",
      "/save",
      async (state, call): Promise<SavedState> => {
        const { name, replace } = await readInput(call, saveSchema);
        const saved = await state.save(name, { replace });
        of.changes.add({ topic: "state" });
        return saved;
      },
    ],
    [
      "POST",
      "/restore",
      async (state, call) => {
        const { name } = await readInput(call, namedSchema);
        return restore(() => state.restore(name));
      },
    ],
    [
      "POST",
      "/reset",
      (state, { query }) => restore(() => state.reset({ savesUndo: query.get("undo") === "true" })),
    ],
    [
      "GET",
      "/diff",
      async (state, call): Promise<StateDifference> =>
        state.diff(requireParameter(call, "from"), call.query.get("to") ?? undefined),
    ],
    [
      "DELETE",
      "/:name",
      async (state, { parameters }) => {
        await state.delete(parameters["name"] as string);
        of.changes.add({ topic: "state" });
        return null;
      },
    ],
  ];
  return works.map(([method, path, work]) => ({
    method,
    path: `/api/state${path}`,
    handle: async (call) => json(await work(await of.control(), call).catch(refuse)),
  }));
}

function refuse(error: unknown): never {
  if (error instanceof NotFoundError) throw new CallError(404, error.message);
  throw error instanceof UserError ? new CallError(409, error.message) : error;
}
