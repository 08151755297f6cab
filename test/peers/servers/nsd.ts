import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { startProcess, type Peer } from "./peer.ts";

export const nsd: Peer = {
  name: "NSD",
  programs: ["nsd"],
  start({ name: zoneName, file }, { folder, port }) {
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
  server-count: ${availableParallelism()}
  reuseport: yes
remote-control:
  control-enable: no
zone:
  name: ${zoneName}
  zonefile: "${file}"
`,
    );
    return startProcess(["nsd", "-d", "-c", configuration], { folder, port, zoneName });
  },
};
