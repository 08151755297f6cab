/** /user and /accounts. */
import { encodeHex } from "../../src/base/hex.ts";
import { describePage, readPage } from "../../src/dns/rules/list-query.ts";
import { problem, requireValid, ZoneError } from "../../src/dns/record/problem.ts";
import type { Account } from "../../src/dns/rules/zone.ts";
import type { Handlers } from "./api-call.ts";
import { replyWith } from "../objects/object-reply.ts";
import { success } from "./envelope.ts";

/** A local server has one user with one account; their ids never change. */
const accountId = "1ed9e0000000000000000000000acc01";
const userId = "1ed9e0000000000000000000000c5e01";

export function localAccount(email: string): Account {
  return { id: accountId, name: "Local", email };
}

function describeAccount({ id, name }: Account): Record<string, unknown> {
  return { id, name, type: "standard", settings: { enforce_twofactor: false }, created_on: null };
}

export const accountHandlers = {
  verifyToken: async ({ access }) => {
    if (access.token === null) throw new ZoneError([problem.invalidToken()]);
    const bytes = new TextEncoder().encode(access.token);
    const id = encodeHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes), 0, 16));
    const messages = [{ code: 10000, message: "This API Token is valid and active", type: null }];
    return success(JSON.stringify({ id, status: "active" }), { messages });
  },

  getUser: async ({ account }) =>
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

  /** Clients of the deployed service request page after page until a page is empty. */
  list: async ({ account, parameters }) => {
    const perPage = { default: 20, max: 50 };
    const page = requireValid((report) => readPage(parameters, perPage, report));
    const name = parameters.get("name") ?? account.name;
    const found = name === account.name ? [describeAccount(account)] : [];
    const shown = page.page === 1 ? found : [];
    return replyWith(shown, describePage(page, shown.length, found.length));
  },

  get: async ({ account, ids, path }) => {
    if (ids["account"] !== account.id) throw new ZoneError([problem.noRoute(path)]);
    return replyWith(describeAccount(account));
  },
} satisfies Handlers;
