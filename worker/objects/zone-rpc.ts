/** The calls that a zone object answers. `ZoneObject` implements them. */
import type { RecordRequest } from "../../src/dns/rules/accept-record.ts";
import type { RecordQuery } from "../../src/dns/rules/list/record-query.ts";
import type { TargetState } from "../../src/dns/rules/proxied-target.ts";
import type { Change } from "./change-log.ts";
import type { ObjectReply } from "./object-reply.ts";
import type { SwitchName, ZoneIdentity } from "./zone-state.ts";

/** The operations of a batch, each kind in its own order. All but `posts` have an id. */
export interface BatchRequest {
  readonly deletes: readonly RecordRequest[];
  readonly patches: readonly RecordRequest[];
  readonly puts: readonly RecordRequest[];
  readonly posts: readonly RecordRequest[];
}

export interface ZoneRpc extends Rpc.DurableObjectBranded {
  /** Creates the zone if it does not exist. The index decides which zones exist: no failure. */
  open(identity: ZoneIdentity): Promise<void>;
  destroy(): Promise<void>;
  /** The index stores whether a zone is paused; the zone's answers depend on it. */
  pause(paused: boolean): Promise<void>;

  create(request: RecordRequest): Promise<ObjectReply>;
  overwrite(id: string, request: RecordRequest): Promise<ObjectReply>;
  edit(id: string, patch: RecordRequest): Promise<ObjectReply>;
  remove(id: string): Promise<ObjectReply>;
  /** Deletes, patches, puts, posts, in that order; the first failure undoes the whole batch. */
  batch(request: BatchRequest): Promise<ObjectReply>;
  /** Creates the records of the configuration file that do not exist yet. */
  declare(requests: readonly RecordRequest[]): Promise<ObjectReply>;
  importFile(text: string, proxied: boolean): Promise<ObjectReply>;

  get(id: string): ObjectReply;
  list(query: RecordQuery): ObjectReply;
  usage(): ObjectReply;
  /** The JSON of the reply is the zone file as a string. */
  exportFile(): ObjectReply;
  /** What the zone knows of a name, for the CNAME chains of other zones. */
  lookUp(name: string): TargetState;

  readSettings(): ObjectReply;
  changeSettings(input: unknown): Promise<ObjectReply>;
  readSwitches(): ObjectReply;
  readSwitch(name: SwitchName): ObjectReply;
  changeSwitch(name: SwitchName, value: "on" | "off"): Promise<ObjectReply>;

  /** The whole zone at this moment, for a replica; `null` when the zone does not exist. */
  state(): ReadableStream<Uint8Array> | null;
  /** Puts the zone into the isolate's memory, for DNS over HTTPS. */
  remember(): void;
  /** The changes after a serial; `null` when the log does not reach back to that serial. */
  changesSince(serial: number): Change[] | null;
  /** Undoes the writes of a test layer and of the layers above it, and publishes the result. */
  leaveLayer(layer: number): Promise<void>;
}
