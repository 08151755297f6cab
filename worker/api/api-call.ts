import type { DnsConfig } from "../../src/dns/config/dns-config.ts";
import type { Account } from "../../src/dns/rules/account.ts";
import type { Env } from "../objects/environment.ts";
import type { ObjectReply } from "../objects/object-reply.ts";
import { zoneObject } from "../objects/zone-object.ts";
import type { Access } from "./access.ts";
import type { ZoneCache } from "./zone-cache.ts";

/** A request of the record API, as its handler receives it. */
export interface ApiCall {
  readonly request: Request;
  /** Without a trailing slash. */
  readonly path: string;
  readonly parameters: ReadonlyMap<string, string>;
  /** The placeholders of the route, by name. */
  readonly ids: Readonly<Record<string, string>>;
  readonly access: Access;
  readonly env: Env;
  readonly config: DnsConfig;
  readonly account: Account;
  readonly zones: ZoneCache;
  /** Of a request of another process, which repeats it if the answer is lost. */
  readonly requestId: string | null;
}

/** Handlers by the name of their operation, or by the HTTP method. */
export type Handlers = Readonly<Record<string, (call: ApiCall) => Promise<ObjectReply | Response>>>;

/** The object of the zone that the route names. */
export function zoneOf({ env, ids }: ApiCall): ReturnType<typeof zoneObject> {
  return zoneObject(env, ids["zone"]!);
}
