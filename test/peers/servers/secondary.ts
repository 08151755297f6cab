/** Secondary name servers of our zone: NOTIFY announces changes, and transfers fetch them. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startProcess, type PeerPlace, type RunningProcess } from "./peer.ts";

interface Primary {
  readonly port: number;
  readonly zoneName: string;
  /** The TSIG secret in base64. */
  readonly key: { readonly name: string; readonly secret: string };
}

export interface Secondary {
  readonly name: string;
  readonly programs: readonly string[];
  /** Whether the server has received an incremental transfer. */
  readonly tookIncrement: (folder: string) => boolean;
  readonly start: (primary: Primary, place: PeerPlace) => Promise<RunningProcess>;
}

const bind: Secondary = {
  name: "BIND",
  programs: ["named"],
  // BIND writes a journal only for incremental transfers.
  tookIncrement: (folder) => existsSync(join(folder, "zone.db.jnl")),
  start({ port: primaryPort, zoneName, key }, { folder, port }) {
    const configuration = join(folder, "named.conf");
    writeFileSync(
      configuration,
      `key "${key.name}" { algorithm hmac-sha256; secret "${key.secret}"; };
      options {
        directory "${folder}";
        pid-file "${join(folder, "named.pid")}";
        session-keyfile "${join(folder, "session.key")}";
        listen-on port ${port} { 127.0.0.1; };
        listen-on-v6 { none; };
        recursion no;
        dnssec-validation no;
        notify no;
        allow-transfer { 127.0.0.1; };
        serial-query-rate 100;
        transfer-source 127.0.0.1;
      };
      logging { category xfer-in { default_stderr; }; };
      controls {};
      zone "${zoneName}" {
        type secondary;
        file "${join(folder, "zone.db")}";
        masterfile-format text;
        primaries { 127.0.0.1 port ${primaryPort} key "${key.name}"; };
        min-refresh-time 1;
        allow-notify { 127.0.0.1; };
      };\n`,
    );
    return startProcess(["named", "-g", "-c", configuration], { folder, port, zoneName });
  },
};

const knot: Secondary = {
  name: "Knot",
  programs: ["knotd"],
  tookIncrement: (folder) => /IXFR, incoming/.test(readFileSync(join(folder, "log"), "utf8")),
  start({ port: primaryPort, zoneName, key }, { folder, port }) {
    const configuration = join(folder, "knot.conf");
    writeFileSync(
      configuration,
      `server:
    rundir: "${folder}"
    listen: 127.0.0.1@${port}
log:
  - target: stderr
    any: info
database:
    storage: "${folder}"
key:
  - id: ${key.name}
    algorithm: hmac-sha256
    secret: ${key.secret}
remote:
  - id: primary
    address: 127.0.0.1@${primaryPort}
    key: ${key.name}
acl:
  - id: notify
    address: 127.0.0.1
    action: notify
  - id: notify-signed
    key: ${key.name}
    action: notify
  - id: transfer
    address: 127.0.0.1
    action: transfer
zone:
  - domain: ${zoneName}
    storage: "${folder}"
    master: primary
    acl: [notify, notify-signed, transfer]
`,
    );
    return startProcess(["knotd", "-c", configuration], { folder, port, zoneName });
  },
};

/** Runs without a key, as is common. */
const nsd: Secondary = {
  name: "NSD",
  programs: ["nsd"],
  tookIncrement(folder) {
    const log = readFileSync(join(folder, "log"), "utf8");
    const sizes = Array.from(log.matchAll(/update to .* of (\d+) bytes/g), ([, size]) =>
      Number(size),
    );
    // The whole zone is larger than that. When changes arrive during a reload, NSD sometimes
    // transfers the whole zone, so not every update is small.
    return sizes.filter((size) => size < 1024).length > 100;
  },
  start({ port: primaryPort, zoneName }, { folder, port }) {
    const configuration = join(folder, "nsd.conf");
    writeFileSync(
      configuration,
      `server:
  ip-address: 127.0.0.1@${port}
  username: ""
  zonesdir: "${folder}"
  database: ""
  pidfile: "${join(folder, "nsd.pid")}"
  xfrdfile: "${join(folder, "xfrd.state")}"
  xfrdir: "${folder}"
  zonelistfile: "${join(folder, "zone.list")}"
  verbosity: 2
  xfrd-reload-timeout: 1
remote-control:
  control-enable: no
zone:
  name: ${zoneName}
  zonefile: "${join(folder, "zone.db")}"
  request-xfr: 127.0.0.1@${primaryPort} NOKEY
  allow-notify: 127.0.0.1 NOKEY
  provide-xfr: 127.0.0.1 NOKEY
`,
    );
    return startProcess(["nsd", "-d", "-c", configuration], { folder, port, zoneName });
  },
};

export const secondaries: readonly Secondary[] = [bind, knot, nsd];
