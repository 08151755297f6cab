/**
 * What the platform answers in place of a proxied record: its own addresses, and the HTTPS record
 * that tells browsers which versions of HTTP it speaks.
 */
import { parseIpv4, parseIpv6 } from "../record/field/ip-address.ts";
import { recordType } from "../record/registry.ts";

export interface Families {
  readonly ipv4: boolean;
  readonly ipv6: boolean;
}

export interface HttpVersions {
  readonly http2: boolean;
  readonly http3: boolean;
}

export class Platform {
  readonly ipv4: readonly Uint8Array[];
  readonly ipv6: readonly Uint8Array[];
  readonly #ipv4Text: readonly string[];
  readonly #ipv6Text: readonly string[];

  constructor(addresses: readonly string[]) {
    this.#ipv4Text = addresses.filter((address) => parseIpv4(address) !== null);
    this.#ipv6Text = addresses.filter((address) => parseIpv6(address) !== null);
    this.ipv4 = this.#ipv4Text.map((address) => parseIpv4(address)!);
    this.ipv6 = this.#ipv6Text.map((address) => parseIpv6(address)!);
  }

  /** The data of the HTTPS record, or `null` when there is nothing for it to say. */
  httpsData({ http2, http3 }: HttpVersions, { ipv4, ipv6 }: Families): Uint8Array | null {
    if (!http2 && !http3) return null;
    const alpn = [...(http3 ? ["h3"] : []), ...(http2 ? ["h2"] : [])].join(",");
    const words = [`1 . alpn="${alpn}"`];
    if (ipv4 && this.#ipv4Text.length > 0) words.push(`ipv4hint="${this.#ipv4Text.join(",")}"`);
    if (ipv6 && this.#ipv6Text.length > 0) words.push(`ipv6hint="${this.#ipv6Text.join(",")}"`);
    const type = recordType("HTTPS");
    return type.write(type.parseContent(words.join(" "), null));
  }
}
