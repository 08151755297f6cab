/**
 * The pages of the edge for requests that lead nowhere: a status as the platform gives it, what is missing, and
 * what to do.
 */
import type { EdgeRecord, ZoneView } from "./edge-table.ts";

export interface EdgePage {
  readonly status: number;
  /** One line: `No record photos.example.com`. */
  readonly title: string;
  readonly text: string;
  /** Commands and settings that help, each a line of its own. */
  readonly hints: readonly string[];
  /** Names that lead somewhere. */
  readonly names: readonly string[];
}

export function noZonePage(host: string): EdgePage {
  return {
    status: 404,
    title: `No zone has ${host}`,
    text: `No route, no public bucket and no zone of this project has the name ${host}.`,
    hints: [
      `ledge dns zones --create ${host.split(".").slice(-2).join(".")}`,
      `"routes": ["${host}/*"]`,
    ],
    names: [],
  };
}

export function noRecordPage(host: string, { zoneName, names }: ZoneView): EdgePage {
  return {
    status: 530,
    title: `No record ${host}`,
    text: `The zone ${zoneName} has no address record for ${host}, and no route or public bucket has the name.`,
    hints: [
      dnsCommand("add", { name: host, type: "A", content: "127.0.0.1" }, zoneName),
      `"routes": ["${host}/*"]`,
    ],
    names,
  };
}

export function notProxiedPage(
  host: string,
  record: EdgeRecord,
  { zoneName, names }: ZoneView,
): EdgePage {
  return {
    status: 530,
    title: `${host} is not proxied`,
    text: `${describeRecord(record)} is not proxied: clients connect to ${record.content} without this edge.`,
    hints: [dnsCommand("set", record, zoneName)],
    names,
  };
}

export function noAddressPage(host: string, record: EdgeRecord): EdgePage {
  return {
    status: 530,
    title: `${host} leads to no address`,
    text: `${describeRecord(record)} leads to a name without address records, or back to itself.`,
    hints: [],
    names: [],
  };
}

/** The origin is on another machine. */
export function farOriginPage(host: string, record: EdgeRecord): EdgePage {
  return {
    status: 523,
    title: `The origin of ${host} is not on this machine`,
    text: `${describeRecord(record)} leads away from this machine. The edge connects to loopback addresses, and to what [edge] origins allows.`,
    hints: [`"edge": { "origins": [{ "host": "${record.content}" }] }`],
    names: [],
  };
}

function describeRecord({ name, type, content }: EdgeRecord): string {
  return `The record ${name} ${type} ${content}`;
}

function dnsCommand(
  verb: "add" | "set",
  { name, type, content }: Pick<EdgeRecord, "name" | "type" | "content">,
  zoneName: string,
): string {
  const own = name === zoneName ? "@" : name.slice(0, -zoneName.length - 1);
  // A shell would expand a wildcard.
  const word = own.includes("*") ? `'${own}'` : own;
  return `ledge dns ${verb} ${zoneName} ${word} ${type} ${content} --proxied`;
}

/** A script has fetched its own custom domain. The domain has no origin besides this script. */
export function ownDomainPage(host: string): EdgePage {
  return {
    status: 522,
    title: `${host} is the script that asks`,
    text: `${host} is a custom domain of this script. A script cannot fetch its own custom domain.`,
    hints: [],
    names: [],
  };
}

/** A request that has passed through this edge too many times. */
export function loopPage(host: string): EdgePage {
  return {
    status: 508,
    title: `${host} leads back to this edge`,
    text: `The request for ${host} has come back to this edge again and again: the origin of the name is this edge.`,
    hints: [],
    names: [],
  };
}

/** How a connection to an origin ended without a response. */
export type OriginFault =
  | "reset"
  | "refused"
  | "timeout"
  | "unreachable"
  | "silent"
  | "handshake"
  | "certificate"
  | "unresolved";

const originFaults: Readonly<Record<OriginFault, { status: number; text: string }>> = {
  reset: { status: 520, text: "closed the connection before it answered" },
  refused: { status: 521, text: "refused the connection: no server listens there" },
  timeout: { status: 522, text: "did not accept the connection in time" },
  unreachable: { status: 523, text: "cannot be reached from this machine" },
  silent: { status: 524, text: "accepted the request and did not answer in time" },
  handshake: { status: 525, text: "does not speak TLS there" },
  certificate: {
    status: 526,
    text: "has a certificate that is not trusted or is for another name",
  },
  unresolved: { status: 530, text: "has no address: its name is not known" },
};

/** @param address of the origin with its port: `127.0.0.1:3000` */
export function originFaultPage(
  fault: OriginFault,
  { host, record, address }: { host: string; record: EdgeRecord; address: string },
): EdgePage {
  const { status, text } = originFaults[fault];
  const port = `"edge": { "origins": [{ "host": "${host}", "port": 3000 }] }`;
  return {
    status,
    title: `The origin of ${host} does not answer`,
    text: `${describeRecord(record)} leads to ${address}, which ${text}.`,
    hints: fault === "refused" || fault === "handshake" ? [port] : [],
    names: [],
  };
}

export interface RenderedPage {
  readonly body: string;
  readonly contentType: string;
}

const style =
  ":root{color-scheme:light dark}body{margin:0;font:1rem/1.5 system-ui,sans-serif}" +
  "main{max-width:40rem;margin:15vh auto;padding:0 1.5rem}h1{font-size:1.25rem}" +
  "p,li{overflow-wrap:anywhere}code{font-size:.9em}small{opacity:.7}ul{padding-left:1.25rem}";

/** @param acceptsHtml whether `Accept` has `text/html`, as that of browsers */
export function renderPage(page: EdgePage, acceptsHtml: boolean): RenderedPage {
  return acceptsHtml
    ? { body: htmlOf(page), contentType: "text/html; charset=utf-8" }
    : { body: textOf(page), contentType: "text/plain; charset=utf-8" };
}

function textOf({ status, title, text, hints, names }: EdgePage): string {
  const help =
    hints.length === 0
      ? []
      : ["", "To lead the name somewhere, use one of:", ...hints.map((hint) => `  ${hint}`)];
  const known =
    names.length === 0 ? [] : ["", "Names of the zone:", ...names.map((name) => `  ${name}`)];
  return [`${status} ${title}`, "", text, ...help, ...known, ""].join("\n");
}

function htmlOf({ status, title, text, hints, names }: EdgePage): string {
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
    '<meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<title>${escaped(title)}</title><style>${style}</style></head><body><main>` +
    `<h1>${escaped(title)}</h1><p>${escaped(text)}</p>` +
    htmlList(
      "To lead the name somewhere, use one of:",
      hints.map((hint) => `<code>${escaped(hint)}</code>`),
    ) +
    htmlList("Names of the zone:", names.map(escaped)) +
    `<p><small>${status} · Ledge, the edge on this machine</small></p></main></body></html>`
  );
}

function htmlList(heading: string, items: readonly string[]): string {
  const list = items.map((item) => `<li>${item}</li>`).join("");
  return items.length === 0 ? "" : `<p>${heading}</p><ul>${list}</ul>`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
