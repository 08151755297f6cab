/** PowerDNS with its SQLite backend, with and without caches. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { environment, startProcess, type Peer } from "./peer.ts";

const schemas = [
  "/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql",
  "/usr/share/doc/pdns-backend-sqlite3/schema.sqlite3.sql",
];

const withoutCaches = `cache-ttl=0
query-cache-ttl=0
negquery-cache-ttl=0
zone-cache-refresh-interval=0
`;

function powerDns(name: string, settings: string): Peer {
  return {
    name,
    programs: ["pdns_server", "pdnsutil", "sqlite3"],
    start({ name: zoneName, file }, { folder, port }) {
      const database = join(folder, "zones.sqlite3");
      const schema = schemas.find((path) => existsSync(path));
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

export const powerDnsCached = powerDns("PowerDNS", "");
export const powerDnsUncached = powerDns("PowerDNS without caches", withoutCaches);
