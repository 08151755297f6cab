/** The headers of a request that the deployed platform sets, for a client on this machine. */

export interface PlatformRequest {
  readonly protocol: "http:" | "https:";
  /** `X-Forwarded-For` of the request, which the platform continues. */
  readonly forwardedFor: string | null;
  readonly country: string | null;
  /** 16 hexadecimal digits. */
  readonly ray: string;
}

/** All clients of the edge are on this machine. */
const clientAddress = "127.0.0.1";
/** As in `request.cf` of a local script. */
const dataCenter = "DFW";

export function platformHeaders(request: PlatformRequest): Record<string, string> {
  const { protocol, forwardedFor, country, ray } = request;
  const scheme = protocol.slice(0, -1);
  return {
    "cf-connecting-ip": clientAddress,
    "x-real-ip": clientAddress,
    "x-forwarded-for": forwardedFor === null ? clientAddress : `${forwardedFor}, ${clientAddress}`,
    "x-forwarded-proto": scheme,
    "cf-visitor": `{"scheme":"${scheme}"}`,
    "cf-ray": `${ray}-${dataCenter}`,
    ...(country !== null && { "cf-ipcountry": country }),
  };
}
