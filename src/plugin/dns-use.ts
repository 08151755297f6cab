/**
 * How a Miniflare with a binding to DNS uses the zones in a folder, from its first runtime to its
 * end: always as a client (`dns/server/zones-owner.ts`). The zones are never in the runtime of the
 * script, because a reload would interrupt DNS for all processes.
 */
import { RunRecords } from "../state/runs.ts";
import { isDeepStrictEqual } from "node:util";
import { reserveSocket } from "../state/sockets.ts";
import type { Succession } from "../state/succession.ts";
import { requireUsableFolder } from "../state/folder.ts";
import {
  apiSocketPath,
  zonesNeeds,
  type Zones,
  type ZonesOwner,
} from "../dns/server/zones-owner.ts";
import { succeedZonesOwner } from "../dns/server/zones-connection.ts";
import { MiniflareRuns, type MiniflareRun } from "./miniflare-runs.ts";

interface DnsRun extends MiniflareRun {
  /** Whether the plugin serves the zones while no other process does. A dev server does so itself. */
  readonly succeeds: boolean;
}

/** By the loopback port of each Miniflare. */
const uses = new Map<number, DnsUse>();

export class DnsUse {
  #zones: Zones;
  readonly #runs: MiniflareRuns;
  #succession: Succession<ZonesOwner> | undefined;

  private constructor(zones: Zones, loopbackPort: number, previous: DnsUse | undefined) {
    this.#zones = zones;
    this.#runs = new MiniflareRuns({
      plugin: "dns",
      records: new RunRecords(zones.folder),
      previous: previous && previous.#runs,
      onEnd: () => this.#end(loopbackPort),
    });
  }

  /** Called when Miniflare asks for the services of a run. Its runtime may start afterwards. */
  static async begin(zones: Zones, run: DnsRun): Promise<void> {
    const last = uses.get(run.loopbackPort);
    const isSame = last !== undefined && last.#zones.folder === zones.folder;
    const use = isSame ? last : new DnsUse(zones, run.loopbackPort, last);
    uses.set(run.loopbackPort, use);
    await use.#begin(zones, run);
  }

  async #begin(zones: Zones, { succeeds, ...run }: DnsRun): Promise<void> {
    requireUsableFolder(zones.folder, { ...zonesNeeds, reserveKept: true });
    await reserveSocket(apiSocketPath(zones.folder));
    if (!isDeepStrictEqual(zones, this.#zones)) {
      await this.#succession?.stop();
      this.#succession = undefined;
    }
    this.#zones = zones;
    if (succeeds) this.#succession ??= succeedZonesOwner(zones, (text) => console.warn(text));
    // A call from Node to a method of the binding blocks Node until the answer arrives, so this
    // process cannot start to serve the zones during the call.
    await this.#succession?.ready;
    await this.#runs.begin(run);
  }

  #end(loopbackPort: number): void {
    if (uses.get(loopbackPort) === this) uses.delete(loopbackPort);
    void this.#succession?.stop();
  }
}
