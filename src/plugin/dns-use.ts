/**
 * How a Miniflare with a binding to DNS uses the zones in a folder, from its first runtime to its
 * end: always as a client (`dns/server/zones-owner.ts`). The zones are never in the runtime of the
 * script, because a reload would interrupt DNS for all processes.
 *
 * `store-use.ts` says how a plugin learns that its Miniflare has ended.
 */
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { observeRuntimesAt } from "../base/child-processes.ts";
import { reserveSocket } from "../base/folder-sockets.ts";
import { isListening } from "../base/ports.ts";
import { markChildren } from "../base/processes.ts";
import type { Succession } from "../base/succession.ts";
import { requireUsableFolder } from "../base/usable-folder.ts";
import {
  apiSocketPath,
  zonesNeeds,
  zonesRuns,
  type Zones,
  type ZonesOwner,
} from "../dns/server/zones-owner.ts";
import { succeedZonesOwner } from "../dns/server/zones-successor.ts";
import { shareStartTurn } from "./start-turn.ts";

interface DnsRun {
  readonly runId: string;
  readonly persistPath: string;
  /** Where Miniflare listens until its end. */
  readonly loopbackHost: string;
  readonly loopbackPort: number;
  /** Whether the plugin serves the zones while no other process does. A dev server does so itself. */
  readonly succeeds: boolean;
}

const watchMilliseconds = 500;

/** By the loopback port of each Miniflare. */
const uses = new Map<number, DnsUse>();

export class DnsUse {
  #zones: Zones | undefined;
  #succession: Succession<ZonesOwner> | undefined;
  /** The run for which Miniflare has asked for services last. */
  #nextRunId = "";
  /** The run of the runtime that runs. */
  #runId = "";
  #endStart: () => void = () => {};

  /** Called when Miniflare asks for the services of a run. Its runtime may start afterwards. */
  static async begin(zones: Zones, run: DnsRun): Promise<void> {
    const use = uses.get(run.loopbackPort) ?? new DnsUse();
    uses.set(run.loopbackPort, use);
    await use.#begin(zones, run);
  }

  async #begin(zones: Zones, run: DnsRun): Promise<void> {
    const { runId, persistPath, loopbackPort } = run;
    const { folder } = zones;
    markChildren();
    requireUsableFolder(folder, { ...zonesNeeds, reserveKept: true });
    await reserveSocket(apiSocketPath(folder));
    if (!isDeepStrictEqual(zones, this.#zones)) {
      await this.#succession?.stop();
      this.#succession = undefined;
    }
    this.#zones = zones;
    if (run.succeeds) this.#succession ??= succeedZonesOwner(zones, (text) => console.warn(text));
    // A call from Node to a method of the binding blocks Node until the answer arrives, so this
    // process cannot start to serve the zones during the call.
    await this.#succession?.ready;
    this.#nextRunId = runId;
    zonesRuns(folder).write(runId);
    this.#endStart = await shareStartTurn(persistPath, loopbackPort);
    observeRuntimesAt(loopbackPort, "dns", {
      onStart: (runtime) => {
        this.#runId = this.#nextRunId;
        zonesRuns(folder).write(this.#runId, runtime);
      },
      onListen: () => this.#endStart(),
      onExit: (isKilled) => this.#onExit(isKilled, run),
    });
    void this.#watchStart(run);
  }

  #onExit(isKilled: boolean, run: DnsRun): void {
    this.#forget(this.#runId);
    // Miniflare asks for services before it replaces a runtime.
    if (this.#runId !== this.#nextRunId) return;
    this.#endStart();
    this.#runId = "";
    if (isKilled) this.#end(run);
    else void this.#watchStart(run);
  }

  /** Until the runtime starts, a Miniflare that has ended is seen by its port. */
  async #watchStart(run: DnsRun): Promise<void> {
    const { loopbackHost, loopbackPort, runId } = run;
    for (;;) {
      await delay(watchMilliseconds, undefined, { ref: false });
      if (this.#nextRunId !== runId || this.#runId === runId) return;
      if (!(await isListening(loopbackHost, loopbackPort))) return this.#end(run);
    }
  }

  #end({ loopbackPort }: DnsRun): void {
    if (uses.get(loopbackPort) === this) uses.delete(loopbackPort);
    this.#endStart();
    this.#forget(this.#nextRunId);
    void this.#succession?.stop();
  }

  #forget(runId: string): void {
    if (this.#zones !== undefined && runId !== "") zonesRuns(this.#zones.folder).remove(runId);
  }
}
