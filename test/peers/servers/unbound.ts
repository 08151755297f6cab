/** unbound as a validating resolver that asks our server for its zones. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startProcess, type PeerPlace, type RunningProcess } from "./peer.ts";

interface Resolved {
  /** The port of the name server. */
  readonly authority: number;
  /** Delegations name no port, so each zone is configured. The first has the trust anchor. */
  readonly zones: readonly [string, ...string[]];
  /** A DS record, as text. */
  readonly trustAnchor: string;
}

export function startUnbound(
  { authority, zones, trustAnchor }: Resolved,
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
  trust-anchor: "${trustAnchor}"
remote-control:
  control-enable: no
${stubs.join("")}`,
  );
  const command = ["unbound", "-d", "-c", configuration] as const;
  // CD, so that a broken zone counts as answered: the first answer only says that unbound runs.
  return startProcess(command, { folder, port, zoneName: "localhost" });
}
