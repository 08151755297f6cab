/** unbound as a validating resolver that asks our server for its zones. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { environment, startProcess, type PeerPlace, type RunningProcess } from "./peer.ts";

interface Resolved {
  /** The port of the name server. */
  readonly authority: number;
  /** Delegations name no port, so each zone is configured. The first has the trust anchor. */
  readonly zones: readonly [string, ...string[]];
  /** A DS record, as text. */
  readonly trustAnchor: string;
  /** More lines of the section `server`; with the anchor in a file, they have the only anchor. */
  readonly options?: readonly string[];
}

export async function run(program: string, ...args: string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, args, { env: environment });
    return stdout;
  } catch (error) {
    return `${(error as { stdout?: string }).stdout ?? ""}\n${String(error)}`;
  }
}

/** The RCODE and whether the answer is authenticated. */
export async function resolve(resolver: RunningProcess, question: string): Promise<string> {
  const words = ["@127.0.0.1", "-p", `${resolver.port}`, "+dnssec", "+time=10", "+tries=1"];
  const printed = await run("dig", ...words, ...question.split(" "));
  const rcode = /status: (\w+)/.exec(printed)?.[1] ?? printed;
  return /flags:[^;]* ad[ ;]/.test(printed) ? `${rcode} ad` : rcode;
}

export function startUnbound(
  { authority, zones, trustAnchor, options = [`trust-anchor: "${trustAnchor}"`] }: Resolved,
  { folder, port }: PeerPlace,
): Promise<RunningProcess> {
  const configuration = join(folder, "unbound.conf");
  const stubs = zones.map(
    (name) => `stub-zone:\n  name: "${name}"\n  stub-addr: 127.0.0.1@${authority}\n`,
  );
  writeFileSync(
    configuration,
    `server:
  directory: "${folder}"
  chroot: ""
  username: ""
  pidfile: "${join(folder, "unbound.pid")}"
  use-syslog: no
  val-log-level: 2
  interface: 127.0.0.1@${port}
  do-ip6: no
  do-not-query-localhost: no
  num-threads: 1
  ${options.join("\n  ")}
remote-control:
  control-enable: no
${stubs.join("")}`,
  );
  const command = ["unbound", "-d", "-c", configuration] as const;
  // CD, so that a broken zone counts as answered: the first answer only says that unbound runs.
  return startProcess(command, { folder, port, zoneName: "localhost" });
}
