/**
 * The answer for a proxied name: the platform's addresses in place of the name's own, and an HTTPS
 * record that tells browsers which versions of HTTP the platform speaks.
 */
import { parseIpv4, parseIpv6 } from "../record/field/ip-address.ts";
import { recordType } from "../record/registry.ts";
import { typeCodes } from "../wire/numbers.ts";
import type { RecordSet } from "../wire/resource-record.ts";
import { ttlAutoSeconds } from "../rules/ttl.ts";
import type { ServedRecord, ZoneHead } from "./zone-data.ts";

export class PlatformAddresses {
  readonly #ipv4: readonly string[];
  readonly #ipv6: readonly string[];

  constructor(addresses: readonly string[]) {
    this.#ipv4 = addresses.filter((address) => parseIpv4(address) !== null);
    this.#ipv6 = addresses.filter((address) => parseIpv6(address) !== null);
  }

  /**
   * The sets of a proxied name.
   *
   * @param proxied the proxied records of the name, at least one
   */
  sets(
    owner: Uint8Array,
    proxied: readonly ServedRecord[],
    versions: Pick<ZoneHead, "http2" | "http3">,
  ): readonly RecordSet[] {
    // A family is left out when every proxied record of the name leaves it out.
    const ipv4 = proxied.every(({ settings }) => settings.ipv6_only === true) ? [] : this.#ipv4;
    const ipv6 = proxied.every(({ settings }) => settings.ipv4_only === true) ? [] : this.#ipv6;
    const candidates: [type: number, data: readonly Uint8Array[]][] = [
      [typeCodes.A, ipv4.map((address) => parseIpv4(address)!)],
      [typeCodes.AAAA, ipv6.map((address) => parseIpv6(address)!)],
      [typeCodes.HTTPS, httpsData(versions, ipv4, ipv6)],
    ];
    return candidates
      .filter(([, data]) => data.length > 0)
      .map(([type, data]) => ({ owner, type, ttlSeconds: ttlAutoSeconds, data }));
  }
}

/** Empty when there is no version to announce. */
function httpsData(
  { http2, http3 }: Pick<ZoneHead, "http2" | "http3">,
  ipv4: readonly string[],
  ipv6: readonly string[],
): Uint8Array[] {
  if (!http2 && !http3) return [];
  const alpn = [...(http3 ? ["h3"] : []), ...(http2 ? ["h2"] : [])].join(",");
  const words = [`1 . alpn="${alpn}"`];
  if (ipv4.length > 0) words.push(`ipv4hint="${ipv4.join(",")}"`);
  if (ipv6.length > 0) words.push(`ipv6hint="${ipv6.join(",")}"`);
  const type = recordType("HTTPS");
  return [type.write(type.parseContent(words.join(" "), null))];
}
