import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startProcess, type Peer } from "./peer.ts";

export const bind: Peer = {
  name: "BIND",
  programs: ["named"],
  start({ name: zoneName, file }, { folder, port }) {
    const configuration = join(folder, "named.conf");
    writeFileSync(
      configuration,
      `options {
        directory "${folder}";
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
      zone "${zoneName}" { type primary; file "${file}"; };\n`,
    );
    return startProcess(["named", "-g", "-c", configuration], { folder, port, zoneName });
  },
};
