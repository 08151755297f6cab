/** Authentication of a request, and what its credentials allow. */
import type { DnsConfig } from "../../src/dns/config/dns-config.ts";
import { problem, ZoneError } from "../../src/dns/record/problem.ts";
import { emailPattern, keyPattern, tokenPattern, type Zone } from "../../src/dns/rules/zone.ts";

export interface Access {
  /** `null` for the owner, who authenticates with the key. */
  readonly token: string | null;
  /** Names or ids of the zones that the token may use; `null` for all zones. */
  readonly zones: readonly string[] | null;
  readonly readOnly: boolean;
}

export const owner: Access = { token: null, zones: null, readOnly: false };

/** A client without credentials, for calls that need none. */
export const stranger: Access = { token: null, zones: [], readOnly: true };

const bearerPattern = /^Bearer +(.*)$/i;

/** Takes the same time for all secrets of one length, wherever they differ. */
export function isSameSecret(secret: string, given: string): boolean {
  const encoder = new TextEncoder();
  const [one, other] = [encoder.encode(secret), encoder.encode(given)];
  return one.length === other.length && crypto.subtle.timingSafeEqual(one, other);
}

export function authenticate(headers: Headers, config: DnsConfig): Access {
  const authorization = headers.get("authorization");
  if (authorization !== null) {
    const token = bearerPattern.exec(authorization)?.[1];
    if (token === undefined || !tokenPattern.test(token))
      throw new ZoneError([problem.malformedAuthorization()]);
    const found = config.tokens.find((candidate) => isSameSecret(candidate.token, token));
    if (found === undefined) throw new ZoneError([problem.invalidToken()]);
    return { token, zones: found.zones, readOnly: found.readOnly };
  }
  const email = headers.get("x-auth-email");
  const key = headers.get("x-auth-key");
  if (email === null || key === null) throw new ZoneError([problem.noCredentials()]);
  const known = isSameSecret(config.key, key);
  if (!emailPattern.test(email)) throw new ZoneError([problem.malformedEmail()]);
  // A configured key need not have the form of an API key.
  if (!known && !keyPattern.test(key)) throw new ZoneError([problem.malformedKey()]);
  if (!known || email.toLowerCase() !== config.email.toLowerCase()) {
    throw new ZoneError([problem.unknownKey()]);
  }
  return owner;
}

export function hasCredentials(headers: Headers): boolean {
  return ["authorization", "x-auth-email", "x-auth-key"].some((name) => headers.has(name));
}

function demand(isAllowed: boolean): void {
  if (!isAllowed) throw new ZoneError([problem.notAllowed()]);
}

export function requireZone({ zones }: Access, { id, name }: Pick<Zone, "id" | "name">): void {
  demand(zones === null || zones.includes(id) || zones.includes(name));
}

/** Only credentials for all zones may create or delete a zone, and use the test controls. */
export function requireAllZones({ zones }: Access): void {
  demand(zones === null);
}

/** Every other method than these changes something. */
const readingMethods = new Set(["GET", "HEAD"]);

export function isReading(method: string): boolean {
  return readingMethods.has(method);
}

export function requireMethod({ readOnly }: Access, method: string): void {
  demand(!readOnly || isReading(method));
}
