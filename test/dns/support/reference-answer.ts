/**
 * A reference implementation of the answers of a zone, as simple as possible: it scans the list of
 * records for every question, names are text, and it shares no code with the implementation.
 */
export interface PlainRecord {
  readonly name: string;
  readonly type: string;
  /** As in the API. */
  readonly content: string;
  readonly priority: number | null;
  readonly ttl: number;
  readonly proxied: boolean;
  readonly settings: { readonly flatten_cname?: boolean };
}

const apex = "example.org";
const addresses: Readonly<Record<string, string>> = { A: "198.18.0.1", AAAA: "2001:2::1" };
const https = '1 . alpn="h3,h2" ipv4hint="198.18.0.1" ipv6hint="2001:2::1"';
const soa = `authority ${apex} 1800 SOA`;
const named = new Set(["CNAME", "NS", "MX"]);

interface Outcome {
  rcode: string;
  aa: boolean;
  /** Name, TTL, type, text. */
  answers: [string, number, string, string][];
  rest: string[];
  leftFor: string | null;
  failed: boolean;
}

function seconds(ttl: number): number {
  return ttl === 1 ? 300 : ttl;
}

function text({ type, content, priority }: PlainRecord): string {
  return `${priority === null ? "" : `${priority} `}${content}${named.has(type) ? "." : ""}`;
}

/** The names on the path from below the apex down to a name. */
function path(name: string): string[] {
  const labels = name.slice(0, -apex.length - 1).split(".");
  return labels.map((_, index) => `${labels.slice(labels.length - 1 - index).join(".")}.${apex}`);
}

const inZone = (name: string) => name === apex || name.endsWith(`.${apex}`);

function nothing(): Outcome {
  return { rcode: "NOERROR", aa: false, answers: [], rest: [], leftFor: null, failed: false };
}

export function referenceAnswer(
  records: readonly PlainRecord[],
  question: { readonly name: string; readonly type: string },
): string[] {
  const exists = (name: string) =>
    name === apex || records.some((r) => r.name === name || r.name.endsWith(`.${name}`));

  function setAt(source: string, owner: string, type: string): Outcome["answers"] {
    const found = records.filter((r) => r.name === source && r.type === type);
    const ttl = Math.min(...found.map((r) => seconds(r.ttl)));
    return found.map((r) => [owner, ttl, type, text(r)]);
  }

  function glue(cut: string): string[] {
    const servers = records.filter((r) => r.name === cut && r.type === "NS");
    const lines = (section: string, names: readonly string[]) =>
      names.flatMap((name) => {
        const proxied = records.some((r) => r.name === name && r.proxied);
        return ["A", "AAAA"].flatMap((type) =>
          proxied
            ? [`${section} ${name} 300 ${type} ${addresses[type]}`]
            : setAt(name, name, type).map((words) => `${section} ${words.join(" ")}`),
        );
      });
    const isBelowCut = (name: string) =>
      records.some((r) => r.type === "NS" && (name === r.name || name.endsWith(`.${r.name}`)));
    const targets = servers.map((r) => r.content).filter((n) => inZone(n) && isBelowCut(n));
    const below = (name: string) => name === cut || name.endsWith(`.${cut}`);
    return [
      ...setAt(cut, cut, "NS").map((words) => `authority ${words.join(" ")}`),
      ...lines("glue", targets.filter(below)),
      ...lines(
        "additional",
        targets.filter((name) => !below(name)),
      ),
    ];
  }

  function look(name: string, type: string, met: string[], outcome: Outcome): Outcome {
    if (name !== apex && !name.endsWith(`.${apex}`)) {
      outcome.leftFor = name;
      return outcome;
    }
    met.push(name);
    const steps = name === apex ? [] : path(name);
    const cut = steps.find((step) => records.some((r) => r.name === step && r.type === "NS"));
    if (cut !== undefined && !(cut === name && type === "DS")) {
      outcome.rest.push(...glue(cut));
      outcome.leftFor = name;
      return outcome;
    }
    outcome.aa = true;
    let source = name;
    if (!exists(name)) {
      const encloser = [...steps.toReversed(), apex].find(exists)!;
      source = `*.${encloser}`;
      if (!exists(source)) {
        outcome.rcode = "NXDOMAIN";
        outcome.rest.push(soa);
        return outcome;
      }
    }
    const here = records.filter((r) => r.name === source);
    const proxied = here.some((r) => r.proxied);
    const hidden = (kind: string) => proxied && ["A", "AAAA", "CNAME"].includes(kind);
    const cname = proxied ? undefined : here.find((r) => r.type === "CNAME");
    const flat =
      cname !== undefined &&
      (source === apex || cname.settings.flatten_cname === true || here.length > 1);
    if (type === "ANY" && (here.length > 0 || name === apex)) {
      outcome.answers.push([name, 3600, "HINFO", '"RFC8482" ""']);
    } else if (proxied && addresses[type] !== undefined) {
      outcome.answers.push([name, 300, type, addresses[type]]);
    } else if (proxied && type === "HTTPS") {
      outcome.answers.push([name, 300, type, https]);
    } else if (here.some((r) => r.type === type) && !hidden(type) && !(flat && type === "CNAME")) {
      outcome.answers.push(...setAt(source, name, type));
    } else if (flat && addresses[type] !== undefined) {
      return flatten(name, cname, type, met, outcome);
    } else if (cname !== undefined && !flat) {
      outcome.answers.push([name, seconds(cname.ttl), "CNAME", text(cname)]);
      if (met.includes(cname.content)) outcome.failed = true;
      else return look(cname.content, type, met, outcome);
    } else {
      outcome.rest.push(soa);
    }
    return outcome;
  }

  function flatten(
    name: string,
    cname: PlainRecord,
    type: string,
    met: string[],
    outcome: Outcome,
  ): Outcome {
    if (met.includes(cname.content)) return { ...outcome, rcode: "SERVFAIL" };
    const inner = look(cname.content, type, met, nothing());
    if (inner.leftFor !== null) return { ...outcome, rcode: `needs ${inner.leftFor} ${type}` };
    if (inner.rcode.startsWith("needs")) return { ...outcome, rcode: inner.rcode };
    if (inner.failed || inner.rcode === "SERVFAIL") return { ...outcome, rcode: "SERVFAIL" };
    const ttl = Math.min(seconds(cname.ttl), ...inner.answers.map((words) => words[1]));
    const found = inner.answers.filter((words) => words[2] === type);
    for (const words of found) outcome.answers.push([name, ttl, type, words[3]]);
    if (found.length === 0) outcome.rest.push(soa);
    return outcome;
  }

  const outcome = look(question.name, question.type, [], nothing());
  const { aa, answers, rest, failed } = outcome;
  const rcode = failed ? "SERVFAIL" : outcome.rcode;
  if (!failed && (rcode === "SERVFAIL" || rcode.startsWith("needs"))) return [rcode];
  return [
    aa ? `${rcode} aa` : rcode,
    ...answers.map((words) => `answer ${words.join(" ")}`),
    ...rest,
  ];
}
