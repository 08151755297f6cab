/** The URLs at which a dev server answers. */
import { networkInterfaces, type NetworkInterfaceInfo } from "node:os";

export interface ScriptAddress {
  readonly protocol: string;
  /** As the user names the address to listen at. */
  readonly hostname: string;
  readonly port: number;
}

/** The path of wrangler's page for the state of KV, D1, R2, Durable Objects and workflows. */
const wranglerExplorerPath = "/cdn-cgi/local/explorer";
const anyAddresses = new Set(["*", "0.0.0.0", "::"]);

/** The URL for this machine. */
export function urlOf({ hostname, ...address }: ScriptAddress): string {
  return format({ ...address, hostname: anyAddresses.has(hostname) ? "localhost" : hostname });
}

/** The URLs for other machines, if the server listens at all addresses. */
export function networkUrlsOf(
  address: ScriptAddress,
  interfaces: NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces(),
): string[] {
  if (!anyAddresses.has(address.hostname)) return [];
  return Object.values(interfaces)
    .flatMap((addresses = []) => addresses)
    .filter(({ internal, family }) => !internal && family === "IPv4")
    .map(({ address: hostname }) => format({ ...address, hostname }));
}

/** `null` if the environment turns the page off, by a variable of wrangler. */
export function wranglerExplorerUrl(url: string): string | null {
  return process.env["X_LOCAL_EXPLORER"] === "false" ? null : `${url}${wranglerExplorerPath}`;
}

function format({ protocol, hostname, port }: ScriptAddress): string {
  return `${protocol}://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}
