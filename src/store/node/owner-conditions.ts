/** The conditions of a store, held at its owner (`store/bucket/conditions.ts`). */
import { mkdirSync } from "node:fs";
import { readOwnerRecord } from "../../state/owner.ts";
import { hasRuntimeSockets } from "../../state/sockets.ts";
import { UserError } from "../../base/user-error.ts";
import type { ConditionsReport, RequestedConditions } from "../client/message.ts";
import { ConditionsConnection } from "./conditions-connection.ts";
import { addConditionsHolder, removeConditionsHolder } from "./conditions-holders.ts";
import { endpointPath } from "./store-owner.ts";

/**
 * This process does not become the owner for the sake of conditions: without an owner, no call is made.
 */
export class OwnerConditions extends ConditionsConnection<RequestedConditions, ConditionsReport> {
  readonly #folder: string;

  /** @param folder of the store */
  constructor(folder: string) {
    super({
      findPlace: async () => ({
        address: { path: endpointPath(folder) },
        path: "/conditions",
        headers: { host: "store" },
      }),
      explain: ({ message }) => {
        const owner = readOwnerRecord(folder);
        return owner === null
          ? "No process has the buckets open. The conditions of buckets apply when a script or a command uses a bucket."
          : `Process ${owner.processId} has the buckets open and does not take the conditions ` +
              `(${message}). If this lasts, restart that process.`;
      },
    });
    this.#folder = folder;
  }

  /** @throws UserError where the buckets of another process cannot be reached */
  override async hold(conditions: RequestedConditions | null): Promise<void> {
    if (conditions === null) removeConditionsHolder(this);
    else {
      if (!hasRuntimeSockets) {
        throw new UserError(
          "On Windows no process can reach the buckets of another. Use the Windows Subsystem for Linux.",
        );
      }
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      addConditionsHolder(this, this.#folder);
    }
    await super.hold(conditions);
  }
}
