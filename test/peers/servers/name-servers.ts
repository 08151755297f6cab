/** Other name servers: with a zone from a file, as secondaries of our zone, and with our catalog of zones. */
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  environment,
  startProcess,
  type Peer,
  type PeerPlace,
  type RunningProcess,
} from "./peer.ts";

interface Primary {
  readonly port: number;
  /** A secondary has started when it answers for this zone. */
  readonly zoneName: string;
  /** The TSIG secret in base64. */
  readonly key: { readonly name: string; readonly secret: string };
}

/** A server to which NOTIFY announces changes, and which fetches them by transfers. */
export interface Secondary {
  readonly name: string;
  /** Whether the server has received an incremental transfer. */
  readonly tookIncrement: (folder: string) => boolean;
  readonly start: (primary: Primary, place: PeerPlace) => Promise<RunningProcess>;
}

/** A secondary that learns from a catalog zone which zones there are. */
export interface CatalogConsumer {
  readonly name: string;
  readonly start: (
    primary: Primary & { readonly catalog: string },
    place: PeerPlace,
  ) => Promise<RunningProcess>;
}

type Place = PeerPlace & { readonly zoneName: string };

function startNamed(place: Place, before: string, options: string, after: string) {
  const { folder, port } = place;
  const configuration = join(folder, "named.conf");
  writeFileSync(
    configuration,
    `${before}options {
        directory "${folder}";
        key-directory "${folder}";
        pid-file "${join(folder, "named.pid")}";
        session-keyfile "${join(folder, "session.key")}";
        listen-on port ${port} { 127.0.0.1; };
        listen-on-v6 { none; };
        recursion no;
        dnssec-validation no;
        notify no;
        ${options}
      };
      controls {};
      ${after}\n`,
  );
  return startProcess(["named", "-g", "-c", configuration], place);
}

function startKnot(place: Place, logLevel: string, sections: string) {
  const { folder, port } = place;
  const configuration = join(folder, "knot.conf");
  writeFileSync(
    configuration,
    `server:
    rundir: "${folder}"
    listen: 127.0.0.1@${port}
log:
  - target: stderr
    any: ${logLevel}
database:
    storage: "${folder}"
${sections}`,
  );
  return startProcess(["knotd", "-c", configuration], place);
}

type Command = readonly [string, ...string[]];

function startNsd(
  place: Place,
  serverOptions: string,
  sections: string,
  command: Command = ["nsd"],
) {
  const { folder, port } = place;
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
${serverOptions}remote-control:
  control-enable: no
${sections}`,
  );
  return startProcess([...command, "-d", "-c", configuration], place);
}

const bindOptions = "minimal-responses yes; check-names primary ignore; zero-no-soa-ttl no;";

function bindWith(name: string, zoneOptions: string): Peer {
  return {
    name,
    programs: ["named"],
    start({ name: zoneName, file }, place) {
      // BIND writes its journals beside the file.
      const own = join(place.folder, "zone");
      copyFileSync(file, own);
      const zone = `zone "${zoneName}" { type primary; file "${own}"; ${zoneOptions} };`;
      return startNamed({ ...place, zoneName }, "", bindOptions, zone);
    },
  };
}

function knotWith(name: string, sections: string, zoneOptions: string): Peer {
  return {
    name,
    programs: ["knotd"],
    start({ name: zoneName, file }, place) {
      const zone = `zone:\n  - domain: ${zoneName}\n    file: "${file}"\n    zonefile-sync: -1\n`;
      return startKnot({ ...place, zoneName }, "error", sections + zone + zoneOptions);
    },
  };
}

const nsd: Peer = {
  name: "NSD",
  programs: ["nsd"],
  start({ name: zoneName, file }, place) {
    const options = `  server-count: ${availableParallelism()}\n  reuseport: yes\n`;
    const zone = `zone:\n  name: ${zoneName}\n  zonefile: "${file}"\n`;
    return startNsd({ ...place, zoneName }, options, zone);
  },
};

const powerDnsSchemas = [
  "/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql",
  "/usr/share/doc/pdns-backend-sqlite3/schema.sqlite3.sql",
];

/** PowerDNS with its SQLite backend. */
function powerDns(name: string, settings: string): Peer {
  return {
    name,
    programs: ["pdns_server", "pdnsutil", "sqlite3"],
    start({ name: zoneName, file }, { folder, port }) {
      const database = join(folder, "zones.sqlite3");
      const schema = powerDnsSchemas.find((path) => existsSync(path));
      if (schema === undefined) throw new Error("PowerDNS's SQLite schema is not installed.");
      execFileSync("sqlite3", [database], { input: readFileSync(schema), env: environment });
      writeFileSync(
        join(folder, "pdns.conf"),
        `launch=gsqlite3
gsqlite3-database=${database}
gsqlite3-dnssec=no
local-address=127.0.0.1
local-port=${port}
socket-dir=${folder}
daemon=no
guardian=no
disable-syslog=yes
loglevel=3
${settings}`,
      );
      const here = `--config-dir=${folder}`;
      const quiet = { env: environment, stdio: "ignore" as const };
      execFileSync("pdnsutil", [here, "load-zone", zoneName, file], quiet);
      return startProcess(["pdns_server", here], { folder, port, zoneName });
    },
  };
}

const withoutCaches = `cache-ttl=0
query-cache-ttl=0
negquery-cache-ttl=0
zone-cache-refresh-interval=0
`;

export const bind = bindWith("BIND", "");

export const peers: readonly Peer[] = [
  bind,
  knotWith("Knot", "", ""),
  nsd,
  powerDns("PowerDNS", ""),
  powerDns("PowerDNS without caches", withoutCaches),
];

/** With DNSSEC. */
export const signedPeers: readonly Peer[] = [
  // Signs each answer when it is asked for, with compact denial, as our server does.
  knotWith(
    "Knot, online signing",
    `policy:
  - id: online
    algorithm: ecdsap256sha256
mod-onlinesign:
  - id: online
    policy: online
`,
    "    module: mod-onlinesign/online\n",
  ),
  // BIND signs the zone when it loads, and not the answers.
  bindWith("BIND, signed", "dnssec-policy default; inline-signing yes;"),
];

type TransferKey = Primary["key"];

const bindKey = ({ name, secret }: TransferKey) =>
  `key "${name}" { algorithm hmac-sha256; secret "${secret}"; };\n`;

/** Our server as the primary. */
const knotPrimary = (port: number, { name, secret }: TransferKey) => `key:
  - id: ${name}
    algorithm: hmac-sha256
    secret: ${secret}
remote:
  - id: primary
    address: 127.0.0.1@${port}
    key: ${name}
acl:
  - id: notify
    address: 127.0.0.1
    action: notify
  - id: notify-signed
    key: ${name}
    action: notify
  - id: transfer
    address: 127.0.0.1
    action: transfer
`;

const knotSecondary = (folder: string) => `    storage: "${folder}"
    master: primary
    acl: [notify, notify-signed, transfer]
`;

const nsdSecondary = (port: number, keyName: string) => `  request-xfr: 127.0.0.1@${port} ${keyName}
  allow-notify: 127.0.0.1 ${keyName}
  provide-xfr: 127.0.0.1 NOKEY
`;
const nsdOptions = "  verbosity: 2\n  xfrd-reload-timeout: 1\n";

const logOf = (folder: string): string => readFileSync(join(folder, "log"), "utf8");

export const secondaries: readonly Secondary[] = [
  {
    name: "BIND",
    // BIND writes a journal only for incremental transfers.
    tookIncrement: (folder) => existsSync(join(folder, "zone.db.jnl")),
    start: ({ port, zoneName, key }, place) =>
      startNamed(
        { ...place, zoneName },
        bindKey(key),
        "allow-transfer { 127.0.0.1; }; serial-query-rate 100; transfer-source 127.0.0.1;",
        `logging { category xfer-in { default_stderr; }; };
      zone "${zoneName}" {
        type secondary;
        file "${join(place.folder, "zone.db")}";
        masterfile-format text;
        primaries { 127.0.0.1 port ${port} key "${key.name}"; };
        min-refresh-time 1;
        allow-notify { 127.0.0.1; };
      };`,
      ),
  },
  {
    name: "Knot",
    tookIncrement: (folder) => /IXFR, incoming/.test(logOf(folder)),
    start: ({ port, zoneName, key }, place) =>
      startKnot(
        { ...place, zoneName },
        "info",
        `${knotPrimary(port, key)}zone:
  - domain: ${zoneName}
${knotSecondary(place.folder)}`,
      ),
  },
  {
    // Runs without a key, as is common.
    name: "NSD",
    tookIncrement(folder) {
      const sizes = logOf(folder).matchAll(/update to .* of (\d+) bytes/g);
      // The whole zone is larger than that. When changes arrive during a reload, NSD sometimes
      // transfers the whole zone, so not every update is small.
      return (
        Array.from(sizes, ([, size]) => Number(size)).filter((size) => size < 1024).length > 100
      );
    },
    start: ({ port, zoneName }, place) =>
      startNsd(
        { ...place, zoneName },
        nsdOptions,
        `zone:
  name: ${zoneName}
  zonefile: "${join(place.folder, "zone.db")}"
${nsdSecondary(port, "NOKEY")}`,
      ),
  },
];

/** NSD of Debian trixie, with its own libraries (test/peers/install-newer.sh); `null` if it is absent. */
function findNewerNsd(): Command | null {
  const root = fileURLToPath(new URL("../../../node_modules/.cache/peers/usr", import.meta.url));
  const program = join(root, "sbin/nsd");
  const [loader] = globSync(join(root, "lib/*-linux-gnu/ld-linux-*.so.*"));
  if (loader === undefined || !existsSync(program)) return null;
  return [loader, "--library-path", join(loader, ".."), program];
}

const newerNsd = findNewerNsd();

export const catalogConsumers: readonly CatalogConsumer[] = [
  {
    name: "BIND",
    start({ port, zoneName, catalog, key }, place) {
      const primaries = `{ 127.0.0.1 port ${port} key "${key.name}"; }`;
      return startNamed(
        { ...place, zoneName },
        bindKey(key),
        `serial-query-rate 100; transfer-source 127.0.0.1;
        catalog-zones { zone "${catalog}" default-primaries ${primaries}; };`,
        `zone "${catalog}" {
          type secondary;
          file "${join(place.folder, "catalog.db")}";
          primaries ${primaries};
          allow-notify { 127.0.0.1; };
          allow-query { none; };
        };`,
      );
    },
  },
  {
    name: "Knot",
    start: ({ port, zoneName, catalog, key }, place) =>
      startKnot(
        { ...place, zoneName },
        "info",
        `${knotPrimary(port, key)}template:
  - id: member
${knotSecondary(place.folder)}zone:
  - domain: ${catalog}
${knotSecondary(place.folder)}    catalog-role: interpret
    catalog-template: member
`,
      ),
  },
  ...(newerNsd === null
    ? []
    : [
        {
          name: "NSD",
          start: ({ port, zoneName, catalog, key }, place) =>
            startNsd(
              { ...place, zoneName },
              nsdOptions,
              `key:
  name: ${key.name}
  algorithm: hmac-sha256
  secret: "${key.secret}"
pattern:
  name: member
${nsdSecondary(port, key.name)}zone:
  name: ${catalog}
${nsdSecondary(port, key.name)}  catalog: consumer
  catalog-member-pattern: member
  allow-query: 0.0.0.0/0 BLOCKED
  allow-query: ::0/0 BLOCKED
`,
              newerNsd,
            ),
        } satisfies CatalogConsumer,
      ]),
];
