import type { DnsConfig } from "../../src/config/dns-config.ts";
import type { Env } from "../objects/environment.ts";
import type { Account } from "../../src/dns/rules/account.ts";
import type { Access } from "./access.ts";
import type { OpenZones } from "./open-zones.ts";

/** One request on its way to its handler. */
export interface Call {
  readonly request: Request;
  /** Without a trailing slash. */
  readonly path: string;
  readonly parameters: ReadonlyMap<string, string>;
  /** The parts of the path that the route names. */
  readonly ids: Readonly<Record<string, string>>;
  readonly access: Access;
  readonly env: Env;
  readonly config: DnsConfig;
  readonly account: Account;
  readonly zones: OpenZones;
}

export type Handler = (call: Call) => Promise<Response>;
