/** Accounts, the names that each may change, and basic authentication (RFC 7617). */

export interface Account {
  user: string;
  password: string;
  hosts: string[];
}

/** A variable holds the accounts as an array; a secret holds them as JSON. */
export function readAccounts(variable: Account[] | string): Account[] {
  return typeof variable === "string" ? (JSON.parse(variable) as Account[]) : variable;
}

export async function authenticate(
  header: string | null,
  accounts: readonly Account[],
): Promise<Account | null> {
  const given = credentials(header);
  if (given === null) return null;
  let found: Account | null = null;
  for (const account of accounts) {
    const [user, password] = await Promise.all([
      sameText(account.user, given.user),
      sameText(account.password, given.password),
    ]);
    if (user && password) found = account;
  }
  return found;
}

export function credentials(header: string | null): { user: string; password: string } | null {
  const encoded = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(header ?? "")?.[1];
  if (encoded === undefined) return null;
  let bytes: Uint8Array;
  try {
    bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
  const text = new TextDecoder().decode(bytes);
  const colon = text.indexOf(":");
  if (colon === -1) return null;
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** Compares in constant time. The hashes have equal lengths, which the comparison requires. */
async function sameText(one: string, other: string): Promise<boolean> {
  const [left, right] = await Promise.all([one, other].map(hash));
  return crypto.subtle.timingSafeEqual(left as ArrayBuffer, right as ArrayBuffer);
}

function hash(text: string): Promise<ArrayBuffer> {
  return crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
}
