/**
 * The zones of a listener thread, following the zone objects in the companion worker. The worker
 * tells of every change before the call that made it returns (`worker/replication`); a zone whose
 * serials do not fit together, because a message was lost, is fetched whole.
 */
import { Agent, get } from "node:http";
import { takePublication, zoneOf } from "../replication/follow.ts";
import { readStateLines, secretHeader, zonesPath } from "../replication/protocol.ts";
import type { Publication } from "../replication/publication.ts";
import type { ZoneChange } from "../answer/served-zone.ts";
import type { ServedZones } from "../answer/served-zones.ts";

export interface ReplicaOptions {
  readonly secret: string;
  /** Called after a zone has changed, come or gone; without a change when it came whole. */
  readonly changed: (zoneId: string, change: ZoneChange | null) => void;
}

export class Replica {
  readonly #zones: ServedZones;
  readonly #options: ReplicaOptions;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 4 });
  /** Zones that are being fetched: what comes in meanwhile is looked at afterwards. */
  readonly #loading = new Map<string, Promise<void>>();
  readonly #origin = Promise.withResolvers<string>();

  constructor(zones: ServedZones, options: ReplicaOptions) {
    this.#zones = zones;
    this.#options = options;
  }

  /** Fetches every zone from the worker at `origin`. */
  async start(origin: string): Promise<void> {
    this.#origin.resolve(origin);
    const ids = JSON.parse((await this.#get(zonesPath)) ?? "[]") as string[];
    await Promise.all(ids.map((id) => this.#load(id)));
  }

  stop(): void {
    this.#agent.destroy();
  }

  /** Resolves once the next query is answered with all of it. */
  async take(publications: readonly Publication[]): Promise<void> {
    for (const publication of publications) {
      const zoneId = zoneOf(publication);
      await this.#loading.get(zoneId);
      const before = this.#zones.get(zoneId)?.serial;
      // The state that is fetched now was committed after this was published, and has it.
      if (takePublication(this.#zones, publication) === "reload") await this.#load(zoneId);
      else if (this.#zones.get(zoneId)?.serial !== before) {
        this.#options.changed(zoneId, publication.kind === "change" ? publication.change : null);
      }
    }
  }

  #load(zoneId: string): Promise<void> {
    const loading = this.#fetchZone(zoneId).finally(() => this.#loading.delete(zoneId));
    this.#loading.set(zoneId, loading);
    return loading;
  }

  async #fetchZone(zoneId: string): Promise<void> {
    const text = await this.#get(`${zonesPath}/${zoneId}`);
    if (text === null) this.#zones.remove(zoneId);
    else this.#zones.put(readStateLines(text));
    this.#options.changed(zoneId, null);
  }

  /** `null` for what is not there. */
  async #get(path: string): Promise<string | null> {
    const url = (await this.#origin.promise) + path;
    const headers = { [secretHeader]: this.#options.secret };
    return new Promise((resolve, reject) => {
      const request = get(url, { agent: this.#agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.once("error", reject);
        response.once("end", () => {
          const text = Buffer.concat(chunks).toString();
          if (response.statusCode === 200) resolve(text);
          else if (response.statusCode === 404) resolve(null);
          else reject(new Error(`GET ${path}: ${response.statusCode} ${text}`));
        });
      });
      request.once("error", reject);
    });
  }
}
