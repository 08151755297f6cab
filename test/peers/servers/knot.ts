import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startProcess, type Peer } from "./peer.ts";

export const knot: Peer = {
  name: "Knot",
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
zone:
  - domain: ${zoneName}
    file: "${file}"
    zonefile-sync: -1
`,
    );
    return startProcess(["knotd", "-c", configuration], { folder, port, zoneName });
  },
};
