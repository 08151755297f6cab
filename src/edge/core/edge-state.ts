/**
 * What the dev server tells its edge worker: the members of the folder, the settings, and who may speak. With the
 * start of the runtime as a binding, and after a change of the members by a request.
 */
import type { CorsRule } from "../../store/core/cors.ts";
import type { EdgeTable } from "./destination.ts";
import type { EdgeMember, EdgeSettings } from "./edge-table.ts";

export interface EdgeState {
  /** This dev server, whose routes come first. */
  readonly own: EdgeMember;
  /** The other dev servers of the folder, the oldest first. */
  readonly others: readonly EdgeMember[];
  readonly settings: EdgeSettings;
  /**
   * The hosts besides loopback for which the script answers; `null` if the dev server listens to other machines:
   * then no name leads anywhere, and every host is the script's.
   */
  readonly scriptHosts: readonly string[] | null;
  /** Whether requests wait, because the state is being restored. */
  readonly isHeld: boolean;
  /** Whether the way of each request is reported (`way.ts`). */
  readonly reportsWays: boolean;
  /** The CORS rules of public buckets; without a bucket for all. */
  readonly cors: readonly (CorsRule & { readonly bucket?: string })[];
}

/** The table of all members. Of equal routes, the first counts. */
export function jointTable({ own, others, settings }: EdgeState): EdgeTable {
  const members = [own, ...others];
  return {
    routes: members.flatMap(({ routes }) => routes),
    buckets: members.flatMap(({ buckets }) => buckets),
    settings,
  };
}

/** The token of the own member, on a request of the dev server itself. */
export const stateHeader = "ledge-edge-state";

/** What the dev server asks of its edge worker: the paths of its requests. */
export const edgeControls = {
  /** The body is the new state. */
  state: "/state",
  /** The answer is `EdgeWork`. */
  work: "/work",
  /** Ends the Durable Objects of the runtime. */
  abort: "/abort",
} as const;

/** The request to the dev server by which a request waits while `EdgeState.isHeld`. */
export const gatePath = "/gate";

/** What runs at this moment. */
export interface EdgeWork {
  /** Requests without a response yet. */
  readonly requests: readonly { readonly name: string; readonly at: number }[];
  /** When the last of the requests had its response. */
  readonly answeredAt: number;
  readonly now: number;
  /** Of scripts, as the tail worker reports them (`explorer/activity/trace.ts`); `null` without a tail worker. */
  readonly invocations: readonly unknown[] | null;
}

/**
 * wrangler's proxy sends it with each request: the token of the own member, and how the proxy of `wrangler dev` would
 * change the URL (`--host`, the host of the first route).
 */
export const proxyHeader = "ledge-edge-proxy";

/** Parts of a URL that replace those of the client's URL. */
export interface UrlOverrides {
  readonly protocol?: string;
  readonly hostname?: string;
  readonly port?: string;
}

export function proxyHeaderValue(token: string, overrides: UrlOverrides): string {
  return `${token} ${JSON.stringify(overrides)}`;
}

/** @returns `null` for a request that does not come from wrangler's proxy */
export function parseProxyHeader(value: string, token: string): UrlOverrides | null {
  if (!value.startsWith(`${token} `)) return null;
  return JSON.parse(value.slice(token.length + 1)) as UrlOverrides;
}
