/**
 * Which process owns the zones in a folder (`base/folder-owner.ts`).
 *
 * The record of the owner has the addresses of its API and listeners and the credentials of the API.
 * Every other process uses that API, or fails: no second process opens the zones. A command owns the
 * zones only until it ends, so others wait for its end.
 */
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { FolderOwner, readOwnerRecord, type OwnerRecord } from "../../base/folder-owner.ts";
import { OwnerLink } from "../../base/owner-link.ts";
import type { ProcessIdentity } from "../../base/processes.ts";
import { pluginFolder, stateFolder } from "../../base/state-folder.ts";
import { UserError } from "../../base/user-error.ts";

export interface DnsAddresses {
  /** Of the API, with `/client/v4`. */
  readonly url: string;
  /** Of UDP and TCP; `null` without listeners. */
  readonly dns: { readonly host: string; readonly port: number } | null;
  readonly email: string;
  readonly key: string;
}

interface ZonesDetails {
  /** Once the owner answers. */
  readonly addresses?: DnsAddresses;
}

export type ZonesOwnerRecord = OwnerRecord & ZonesDetails;

const pollMilliseconds = 20;
/** For a command to end, and for a runtime to start. */
export const zonesWaitMilliseconds = 30_000;

/** Where the zones of a project are. `persistTo` is relative to the project's folder. */
export function zonesFolder(projectFolder: string, persistTo?: string): string {
  const given = persistTo === undefined ? undefined : resolve(projectFolder, persistTo);
  return pluginFolder(stateFolder(projectFolder, given), "dns");
}

/** Another process owns the zones, and is not a command that soon ends. */
export class ZonesTakenError extends UserError {
  readonly owner: ZonesOwnerRecord;

  constructor(folder: string, owner: ZonesOwnerRecord) {
    const at = owner.addresses === undefined ? "" : ` (its API is ${owner.addresses.url})`;
    super(
      `Process ${owner.processId} has the zones in ${folder}${at}. Stop it, or keep yours in ` +
        "another folder (persistTo, --persist-to).",
    );
    this.owner = owner;
  }
}

export class ZonesOwner {
  readonly #owner: FolderOwner<ZonesDetails>;

  private constructor(owner: FolderOwner<ZonesDetails>) {
    this.#owner = owner;
  }

  /**
   * Makes this process the owner. Waits for the end of a command that is the owner.
   *
   * @throws ZonesTakenError
   */
  static async take(folder: string, { brief }: { brief: boolean }): Promise<ZonesOwner> {
    const deadline = Date.now() + zonesWaitMilliseconds;
    for (;;) {
      const owner = await FolderOwner.tryTake<ZonesDetails>(folder, { isBrief: brief });
      if (owner !== null) return new ZonesOwner(owner);
      const record = readOwnerRecord<ZonesDetails>(folder);
      if (record !== null && (!record.isBrief || Date.now() > deadline)) {
        throw new ZonesTakenError(folder, record);
      }
      await delay(pollMilliseconds);
    }
  }

  recordRuntime(runtime: ProcessIdentity): void {
    this.#owner.recordRuntime(runtime);
  }

  publish(addresses: DnsAddresses): void {
    this.#owner.amend({ addresses });
  }

  release(): void {
    this.#owner.release();
  }
}

/** `null` when no process owns the zones. */
export async function findZonesOwner(folder: string): Promise<ZonesOwnerRecord | null> {
  const link = await OwnerLink.connect(folder);
  link?.close();
  return link === null ? null : readOwnerRecord<ZonesDetails>(folder);
}
