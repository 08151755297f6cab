import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startProcess, type Peer } from "./peer.ts";

function bindWith(name: string, zoneOptions: string): Peer {
  return {
    name,
    programs: ["named"],
    start({ name: zoneName, file }, { folder, port }) {
      const configuration = join(folder, "named.conf");
      // BIND writes its journals beside the file.
      const own = join(folder, "zone");
      copyFileSync(file, own);
      writeFileSync(
        configuration,
        `options {
        directory "${folder}";
        key-directory "${folder}";
        pid-file "${join(folder, "named.pid")}";
        session-keyfile "${join(folder, "session.key")}";
        listen-on port ${port} { 127.0.0.1; };
        listen-on-v6 { none; };
        recursion no;
        dnssec-validation no;
        notify no;
        minimal-responses yes;
        check-names primary ignore;
        zero-no-soa-ttl no;
      };
      controls {};
      zone "${zoneName}" { type primary; file "${own}"; ${zoneOptions} };\n`,
      );
      return startProcess(["named", "-g", "-c", configuration], { folder, port, zoneName });
    },
  };
}

export const bind = bindWith("BIND", "");

/** BIND signs the zone when it loads, and not the answers. */
export const bindSigned = bindWith("BIND, signed", "dnssec-policy default; inline-signing yes;");
