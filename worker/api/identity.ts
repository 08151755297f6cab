import { encodeHex } from "../../src/base/hex.ts";
import { describePage, readPage } from "../../src/dns/rules/list/page.ts";
import { problem, ZoneError, type Problem } from "../../src/dns/record/problem.ts";
import type { Account } from "../../src/dns/rules/account.ts";
import type { Handler } from "./call.ts";
import { success } from "./envelope.ts";

/** There is one user with one account on a local machine; the ids never change. */
const accountId = "1ed9e0000000000000000000000acc01";
const userId = "1ed9e0000000000000000000000c5e01";

export function localAccount(email: string): Account {
  return { id: accountId, name: "Local", email };
}

function describeAccount({ id, name }: Account): Record<string, unknown> {
  return { id, name, type: "standard", settings: { enforce_twofactor: false }, created_on: null };
}

export const verifyToken: Handler = async ({ access }) => {
  if (access.token === null) throw new ZoneError([problem.invalidToken()]);
  const bytes = new TextEncoder().encode(access.token);
  const id = encodeHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes), 0, 16));
  const messages = [{ code: 10000, message: "This API Token is valid and active", type: null }];
  return success(JSON.stringify({ id, status: "active" }), { messages });
};

export const getUser: Handler = async ({ account }) => {
  const user = {
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
  };
  return success(JSON.stringify(user));
};

/** Deployed clients ask for page after page until one is empty, even here. */
export const listAccounts: Handler = async ({ account, parameters }) => {
  const problems: Problem[] = [];
  const report = (found: Problem) => problems.push(found);
  const page = readPage(parameters, { perPageDefault: 20, perPageMax: 50 }, report);
  if (problems.length > 0) throw new ZoneError(problems);
  const name = parameters.get("name") ?? account.name;
  const found = name === account.name ? [describeAccount(account)] : [];
  const shown = page.page === 1 ? found : [];
  const result_info = describePage(page, shown.length, found.length);
  return success(JSON.stringify(shown), { result_info });
};

export const getAccount: Handler = async ({ account, ids, path }) => {
  if (ids["account"] !== account.id) throw new ZoneError([problem.noRoute(path)]);
  return success(JSON.stringify(describeAccount(account)));
};
