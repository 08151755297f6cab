import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startProcess, type Peer } from "./peer.ts";

function knotWith(name: string, sections: string, zoneOptions: string): Peer {
  return {
    name,
    programs: ["knotd"],
    start({ name: zoneName, file }, { folder, port }) {
      const configuration = join(folder, "knot.conf");
      writeFileSync(
        configuration,
        `server:
    rundir: "${folder}"
    listen: 127.0.0.1@${port}
log:
  - target: stderr
    any: error
database:
    storage: "${folder}"
${sections}zone:
  - domain: ${zoneName}
    file: "${file}"
    zonefile-sync: -1
${zoneOptions}`,
      );
      return startProcess(["knotd", "-c", configuration], { folder, port, zoneName });
    },
  };
}

export const knot = knotWith("Knot", "", "");

/** Signs each answer when it is asked for, with compact denial, as our server does. */
export const knotSigned = knotWith(
  "Knot, online signing",
  `policy:
  - id: online
    algorithm: ecdsap256sha256
mod-onlinesign:
  - id: online
    policy: online
`,
  "    module: mod-onlinesign/online\n",
);
