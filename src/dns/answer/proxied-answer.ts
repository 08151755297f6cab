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

type HttpVersions = Pick<ZoneHead, "http2" | "http3">;

interface AddressFamilies {
  readonly ipv4: boolean;
  readonly ipv6: boolean;
}

/** A family is left out when every proxied record of the name leaves it out. */
function addressFamilies(proxied: readonly ServedRecord[]): AddressFamilies {
  return {
    ipv4: !proxied.every(({ settings }) => settings.ipv6_only === true),
    ipv6: !proxied.every(({ settings }) => settings.ipv4_only === true),
  };
}

export class PlatformAddresses {
  readonly #ipv4: readonly string[];
  readonly #ipv6: readonly string[];
  readonly #ipv4Data: readonly Uint8Array[];
  readonly #ipv6Data: readonly Uint8Array[];

  constructor(addresses: readonly string[]) {
    this.#ipv4 = addresses.filter((address) => parseIpv4(address) !== null);
    this.#ipv6 = addresses.filter((address) => parseIpv6(address) !== null);
    this.#ipv4Data = this.#ipv4.map((address) => parseIpv4(address)!);
    this.#ipv6Data = this.#ipv6.map((address) => parseIpv6(address)!);
  }

  /**
   * The sets of a proxied name.
   *
   * @param proxied the proxied records of the name, at least one
   */
  sets(
    owner: Uint8Array,
    proxied: readonly ServedRecord[],
    versions: HttpVersions,
  ): readonly RecordSet[] {
    const families = addressFamilies(proxied);
    const https = this.#httpsData(versions, families);
    const candidates: [type: number, data: readonly Uint8Array[]][] = [
      [typeCodes.A, families.ipv4 ? this.#ipv4Data : []],
      [typeCodes.AAAA, families.ipv6 ? this.#ipv6Data : []],
      [typeCodes.HTTPS, https === null ? [] : [https]],
    ];
    return candidates
      .filter(([, data]) => data.length > 0)
      .map(([type, data]) => ({ owner, type, ttlSeconds: ttlAutoSeconds, data }));
  }

  /** `null` when there is no version to announce. */
  #httpsData({ http2, http3 }: HttpVersions, { ipv4, ipv6 }: AddressFamilies): Uint8Array | null {
    if (!http2 && !http3) return null;
    const alpn = [...(http3 ? ["h3"] : []), ...(http2 ? ["h2"] : [])].join(",");
    const words = [`1 . alpn="${alpn}"`];
    if (ipv4 && this.#ipv4.length > 0) words.push(`ipv4hint="${this.#ipv4.join(",")}"`);
    if (ipv6 && this.#ipv6.length > 0) words.push(`ipv6hint="${this.#ipv6.join(",")}"`);
    const type = recordType("HTTPS");
    return type.write(type.parseContent(words.join(" "), null));
  }
}
