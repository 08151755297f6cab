/** Operations around zones: the user, the account, and what this server does not have. */
import { encodeHex } from "../../src/base/hex.ts";
import { parseIpv4 } from "../../src/dns/record/ip-address.ts";
import { problem, requireValid, ZoneError } from "../../src/dns/record/problem.ts";
import { describePage, readPage } from "../../src/dns/rules/list-query.ts";
import { defaultSettings } from "../../src/dns/rules/zone-settings.ts";
import type { Account } from "../../src/dns/rules/zone.ts";
import { replyWith, type ObjectReply } from "../objects/object-call.ts";
import { success, type ApiCall, type Handlers } from "./api-call.ts";

/** A local server has one user with one account; their ids never change. */
const accountId = "1ed9e0000000000000000000000acc01";
const userId = "1ed9e0000000000000000000000c5e01";
const membershipId = "1ed9e0000000000000000000000aaa01";

export function localAccount(email: string): Account {
  return { id: accountId, name: "Local", email };
}

export const accountRoutes: Readonly<Record<string, Handlers>> = {
  "/user": {
    GET: ({ account }) =>
      replyWith({
        id: userId,
        email: account.email,
        first_name: null,
        last_name: null,
        telephone: null,
        country: null,
        zipcode: null,
        two_factor_authentication_enabled: false,
        suspended: false,
        organizations: [],
      }),
  },
  "/user/tokens/verify": {
    async GET({ access }) {
      if (access.token === null) throw new ZoneError([problem.invalidToken()]);
      const id = await shortHash(access.token);
      const messages = [{ code: 10000, message: "This API Token is valid and active", type: null }];
      return success(JSON.stringify({ id, status: "active" }), { messages });
    },
  },
  "/memberships": {
    GET({ account, access, parameters }) {
      const rights = { read: true, write: !access.readOnly };
      const membership = {
        id: membershipId,
        status: "accepted",
        account: describeAccount(account),
        permissions: { dns_records: rights, zones: rights },
        roles: ["Administrator"],
      };
      return pageOf([membership], parameters);
    },
  },
  "/accounts": {
    GET({ account, parameters }) {
      const name = parameters.get("name") ?? account.name;
      return pageOf(name === account.name ? [describeAccount(account)] : [], parameters);
    },
  },
  "/accounts/{account}": { GET: ({ account }) => replyWith(describeAccount(account)) },
  /** What new zones begin with. */
  "/accounts/{account}/dns_settings": {
    ...lacks("DNS settings of accounts: change the settings of each zone", ["PATCH"]),
    GET: ({ config }) =>
      replyWith({ zone_defaults: defaultSettings(config.nameServers), enforce_dns_only: false }),
  },
  /** The addresses of the platform, for firewalls of origins. */
  "/ips": {
    async GET({ config: { platformAddresses: addresses } }) {
      return replyWith({
        ipv4_cidrs: addresses.filter(isIpv4).map((address) => `${address}/32`),
        ipv6_cidrs: addresses.filter((address) => !isIpv4(address)).map((each) => `${each}/128`),
        etag: await shortHash(addresses.join(" ")),
      });
    },
  },
};

const transfersByApi = "transfers that the API configures: see `transfers` of [dns]";

/**
 * Deviation: what clients ask about on the way to records, and a name server does not have. GET shows
 * that there is nothing, and the other methods say so.
 */
export const absentRoutes: Readonly<Record<string, Handlers>> = {
  "/accounts/{account}/custom_ns": lacks("custom name servers", ["POST"]),
  "/accounts/{account}/dns_settings/views": lacks("views", ["POST"]),
  "/accounts/{account}/secondary_dns/acls": lacks(transfersByApi, ["POST"]),
  "/accounts/{account}/secondary_dns/peers": lacks(transfersByApi, ["POST"]),
  "/accounts/{account}/secondary_dns/tsigs": lacks(transfersByApi, ["POST"]),
  "/zones/{zone}/addressing/regional_hostnames": lacks("regional hostnames", ["POST"]),
  "/zones/{zone}/available_rate_plans": lacks("rate plans", []),
  "/zones/{zone}/custom_hostnames": lacks("custom hostnames", ["POST"]),
  "/zones/{zone}/custom_ns": lacks("custom name servers", ["PUT"], { enabled: false, ns_set: 1 }),
  "/zones/{zone}/hold": lacks("holds of zones", ["POST", "PATCH", "DELETE"], {
    hold: false,
    hold_after: null,
    include_subdomains: false,
  }),
  "/zones/{zone}/pagerules": lacks("page rules", ["POST"]),
  "/zones/{zone}/secondary_dns/incoming": lacks(transfersByApi, ["POST", "PUT", "DELETE"], null),
  "/zones/{zone}/secondary_dns/outgoing": lacks(transfersByApi, ["POST", "PUT", "DELETE"], null),
  "/zones/{zone}/ssl/universal/settings": lacks("certificates", ["PATCH"], { enabled: false }),
  "/zones/{zone}/workers/routes": lacks("routes of scripts", ["POST"]),
};

/** @param result of GET; a list is empty */
function lacks(what: string, refused: readonly string[], result?: unknown): Handlers {
  const refuse = (): never => {
    throw new ZoneError([problem.notServed(what)]);
  };
  return {
    GET: ({ parameters }) => (result === undefined ? pageOf([], parameters) : replyWith(result)),
    ...Object.fromEntries(refused.map((method) => [method, refuse])),
  };
}

/** Clients of the deployed service request page after page until a page is empty. */
export function pageOf(items: readonly unknown[], parameters: ApiCall["parameters"]): ObjectReply {
  const page = requireValid((report) => readPage(parameters, { default: 20, max: 50 }, report));
  const shown = page.page === 1 ? items : [];
  return replyWith(shown, describePage(page, shown.length, items.length));
}

function isIpv4(address: string): boolean {
  return parseIpv4(address) !== null;
}

function describeAccount({ id, name }: Account): Record<string, unknown> {
  return { id, name, type: "standard", settings: { enforce_twofactor: false }, created_on: null };
}

async function shortHash(text: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return encodeHex(new Uint8Array(hash, 0, 16));
}
