/**
 * Which process owns the zones in a folder (`state/owner.ts` says what an owner is).
 *
 * The owner runs the companion worker, which has the zones, and answers at the folder's socket. All
 * other processes are clients: scripts through `worker/api-proxy.ts`, commands through
 * `zones-connection.ts`. A dev server and `startDns()` are owners until they end. A command, and a
 * tool that only has a binding, own the zones briefly: while no other process does.
 *
 * The owner's `[dns]` table counts. The record of the owner tells a client whether its table differs.
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "../../base/user-error.ts";
import { reserveName } from "../../state/disk.ts";
import {
  fullDeviceText,
  pluginFolder,
  requireUsableFolder,
  stateFolder,
} from "../../state/folder.ts";
import {
  FolderOwner,
  nameOwner,
  OwnerLink,
  readOwnerRecord,
  type OwnerRecord,
} from "../../state/owner.ts";
import { socketPath } from "../../state/sockets.ts";
import { claimFolder } from "../../state/succession.ts";
import { readDnsConfig, type DnsVariables } from "../config/dns-config.ts";
import type { ServerAddress } from "../config/dns-table.ts";

export interface DnsAddresses {
  /** Of the API, with `/client/v4`. */
  readonly url: string;
  /** Of UDP and TCP. */
  readonly dns: ServerAddress | null;
  /** Of DNS over TLS. */
  readonly tls: ServerAddress | null;
}

interface ZonesDetails {
  /** Identifies the `[dns]` table of the owner. */
  readonly table: string;
  readonly addresses?: DnsAddresses;
}

export type ZonesOwner = FolderOwner<ZonesDetails>;
export type ZonesOwnerRecord = OwnerRecord & Partial<ZonesDetails>;

export interface Zones {
  readonly folder: string;
  /** Of the companion worker, if this process becomes the owner. */
  readonly variables: DnsVariables;
}

export interface TakeOptions {
  /** Whether this process gives the zones up when another process asks. */
  readonly isBrief: boolean;
  readonly onHandover?: () => void;
  /** Called when a client needs the zones, for an owner that serves them on demand. */
  readonly onServiceRequest?: () => void;
  /** Receives the warning of a full device. Default: `console.warn`. */
  readonly log?: (text: string) => void;
}

/** The folder of the zones (`state/folder.ts`). */
export const zonesNeeds = { reserve: reserveName };
const pollMilliseconds = 20;
/** For a runtime and its listeners to start. */
const startMilliseconds = 60_000;

/** Where the zones of a project are. `persistTo` is relative to the project's folder. */
export function zonesFolder(projectFolder: string, persistTo?: string): string {
  const given = persistTo === undefined ? undefined : resolve(projectFolder, persistTo);
  return pluginFolder(stateFolder(projectFolder, given), "dns");
}

/** The socket at which the owner answers. The folder exists. */
export function apiSocketPath(folder: string): string {
  return socketPath(folder, "api");
}

/** Another process owns the zones, and not only briefly. */
export class ZonesTakenError extends UserError {
  readonly owner: ZonesOwnerRecord;

  constructor(folder: string, owner: ZonesOwnerRecord) {
    const at = owner.addresses === undefined ? "" : ` (its API is ${owner.addresses.url})`;
    super(
      `${nameOwner(owner)} has the zones in ${folder}${at}. Stop it, or keep yours in ` +
        "another folder (persistTo, --persist-to).",
    );
    this.owner = owner;
  }
}

/** Makes this process the owner. Returns `null` when the zones have an owner. */
export function takeZones(
  { folder, variables }: Zones,
  { log = console.warn, ...options }: TakeOptions,
): Promise<ZonesOwner | null> {
  return FolderOwner.tryTake<ZonesDetails>(folder, {
    ...options,
    needs: zonesNeeds,
    details: { table: tableId(variables) },
    prepare() {
      if (requireUsableFolder(folder, zonesNeeds).isFull) log(fullDeviceText(folder));
      requireFormat(folder);
    },
  });
}

/** The format of the databases in a folder, which the file `format` names. */
const zonesFormat = "1";

/** @throws UserError when another version of Ledge has made the zones in another format */
function requireFormat(folder: string): void {
  const path = join(folder, "format");
  let found: string | null = null;
  try {
    found = readFileSync(path, "utf8").trim();
  } catch {
    // A full device has no space for the file: a later owner writes it.
    try {
      writeFileSync(path, `${zonesFormat}\n`, { mode: 0o600 });
    } catch {}
  }
  if (found === null || found === zonesFormat) return;
  throw new UserError(
    `The zones in ${folder} have format ${found}, and this version of Ledge has format ` +
      `${zonesFormat}: export them with the version that wrote them (ledge dns export), and import ` +
      "them into another folder.",
  );
}

/**
 * Makes this process the owner, after a brief owner has given the zones up. Returns `null` when
 * another process owns the zones until its end.
 */
export function claimZones(zones: Zones, options: TakeOptions): Promise<ZonesOwner | null> {
  return claimFolder(zones.folder, () => takeZones(zones, options));
}

/** Without addresses that are not addresses. */
function readZonesRecord(folder: string): ZonesOwnerRecord | null {
  const record = readOwnerRecord<ZonesDetails>(folder);
  return typeof record?.addresses?.url === "string" || record === null
    ? record
    : { ...record, addresses: undefined };
}

export async function findZonesOwner(folder: string): Promise<ZonesOwnerRecord | null> {
  const link = await OwnerLink.connect(folder);
  link?.close();
  return link === null ? null : readZonesRecord(folder);
}

/**
 * Where a process that owns the zones until its end answers; waits while that process starts.
 * Returns `null` when the zones have no such owner.
 */
export async function waitForAddresses(folder: string): Promise<DnsAddresses | null> {
  const deadline = Date.now() + startMilliseconds;
  for (;;) {
    const link = await OwnerLink.connect(folder);
    const owner = link === null ? null : readZonesRecord(folder);
    try {
      if (owner === null || owner.isBrief) return null;
      if (owner.addresses !== undefined) return owner.addresses;
      if (Date.now() > deadline) throw new ZonesTakenError(folder, owner);
      link?.requestService();
      await delay(pollMilliseconds);
    } finally {
      link?.close();
    }
  }
}

/** What to tell the user of a client whose `[dns]` table differs from the owner's, or `null`. */
export function describeOtherTable({ folder, variables }: Zones): string | null {
  const owner = readZonesRecord(folder);
  if (owner?.table === undefined || owner.table === tableId(variables)) return null;
  return (
    `${nameOwner(owner)} has the zones in ${folder}, and its [dns] table differs from the ` +
    "table here: the table of that process counts. Give both the same table."
  );
}

/** Secrets of `.dev.vars` do not count: stock tools do not know them. */
export function tableId({ DNS_CONFIG: text }: DnsVariables): string {
  return createHash("sha256").update(canonicalTable(text)).digest("hex");
}

function canonicalTable(text = "{}"): string {
  try {
    // Without the keys of the dev server, and with the defaults.
    return JSON.stringify(readDnsConfig({ DNS_CONFIG: text }));
  } catch {
    // The companion worker reports the mistakes.
    return text;
  }
}
