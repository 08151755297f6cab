import { isIP } from "node:net";

const DNS_PORT = 53;

/** `192.0.2.53`, `192.0.2.53:5300`, `2001:db8::53` or `[2001:db8::53]:5300`. */
export function parseServer(text: string): { host: string; port: number } | null {
  const [, host = text, port = String(DNS_PORT)] =
    /^\[(.+)\]:(\d{1,5})$/.exec(text) ?? /^([^:]+):(\d{1,5})$/.exec(text) ?? [];
  const isPort = Number(port) > 0 && Number(port) < 65_536;
  return isIP(host) !== 0 && isPort ? { host, port: Number(port) } : null;
}
