/** The calls that the index object answers. `IndexObject` implements them. */
import type { Problem } from "../../src/dns/record/problem.ts";
import type { ZoneQuery } from "../../src/dns/rules/list/zone-query.ts";
import type { Account } from "../../src/dns/rules/account.ts";
import type { Zone } from "../../src/dns/rules/zone.ts";
import type { ObjectReply } from "./object-reply.ts";

export interface IndexRpc extends Rpc.DurableObjectBranded {
  /**
   * Creates the zones and records of the configuration file, once for each start. Resolves to the
   * problems of the first zone that cannot be created.
   */
  declareZones(): Promise<readonly Problem[]>;
  get(id: string): Zone | null;
  ids(): string[];
  /** The zone that a name belongs to: the longest zone name that encloses it. */
  findFor(name: string): Zone | null;
  create(
    request: { readonly name: string; readonly type: string },
    account: Account,
  ): Promise<ObjectReply>;
  list(query: ZoneQuery, account: Account): ObjectReply;
  edit(
    id: string,
    input: Readonly<Record<string, unknown>>,
    account: Account,
  ): Promise<ObjectReply>;
  remove(id: string): Promise<ObjectReply>;
  /** Undoes the writes of a test layer and of the layers above it. */
  leaveLayer(layer: number): void;
}
