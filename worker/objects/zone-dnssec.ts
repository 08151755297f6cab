/**
 * DNSSEC of one zone, and the DS records that zones of this server have for each other.
 *
 * Turning DNSSEC on publishes the keys before the parent zone has the DS record, and turning it off
 * removes the DS record first: at no time does a parent announce keys that the zone does not have.
 *
 * A zone tells its parent zone when its keys change (`announceSigner`), and a parent zone asks its
 * child when the NS records of a delegation change (`findSigner`). Either way the parent decides by
 * what it has: it sets the DS record only beside NS records, and removes only a record that was set
 * here.
 */
import {
  delegationSigner,
  describeDnssec,
  type DelegationSigner,
  type DnssecPatch,
  type DnssecStatus,
} from "../../src/dns/rules/dnssec-state.ts";
import { indexName, type Env, type ObjectReply } from "./object-call.ts";
import type { ZoneDatabase } from "./zone-database.ts";
import type { ZoneTransaction } from "./zone-transaction.ts";
import { makeZoneKeys } from "./zone-keys.ts";

/** The part of `ZoneObject` that is called here: the class depends on this file. */
interface SigningZone extends Rpc.DurableObjectBranded {
  delegationSigner(): DelegationSigner | null;
  hasDelegationSigner(child: string, digest: string): boolean;
  setDelegationSigner(child: string, signer: DelegationSigner | null): Promise<ObjectReply>;
}

export function signerOf(database: ZoneDatabase): DelegationSigner | null {
  const dnssec = database.identity === null ? null : database.get("dnssec");
  return dnssec?.isOn === true ? delegationSigner(dnssec.keys) : null;
}

export async function readDnssec(
  database: ZoneDatabase,
  env: Env,
): Promise<Record<string, unknown>> {
  const { name } = database.requireIdentity();
  const signer = signerOf(database);
  let status: DnssecStatus = "disabled";
  if (signer !== null) {
    const parent = await findParent(env, name);
    // A parent that is not a zone of this server counts as announcing the keys.
    const isSet = parent === null || (await parent.hasDelegationSigner(name, signer.digest));
    status = isSet ? "active" : "pending";
  }
  return describeDnssec(name, database.get("dnssec"), status);
}

/** A repeated call changes nothing. */
export async function changeDnssec(
  database: ZoneDatabase,
  env: Env,
  { isOn, isMultiSigner }: DnssecPatch,
): Promise<void> {
  const { name } = database.requireIdentity();
  if (isOn === false) await announceSigner(env, name, null);
  const needsKeys = isOn === true || isMultiSigner === true;
  const made = needsKeys && database.get("dnssec") === null ? await makeZoneKeys(name) : null;
  // Another call may have made keys meanwhile.
  const current = database.get("dnssec");
  const keys = current?.keys ?? made;
  if (keys === null) return;
  const next = {
    keys,
    isOn: isOn ?? current?.isOn ?? false,
    isMultiSigner: isMultiSigner ?? current?.isMultiSigner ?? false,
  };
  if (current?.isOn !== next.isOn || current.isMultiSigner !== next.isMultiSigner) {
    database.writeFacts({ dnssec: { ...next, modifiedOn: new Date().toISOString() } });
  }
  await database.published();
  if (next.isOn) await announceSigner(env, name, delegationSigner(keys));
}

export async function removeDnssec(database: ZoneDatabase, env: Env): Promise<void> {
  const { name } = database.requireIdentity();
  await announceSigner(env, name, null);
  if (database.get("dnssec") !== null) database.writeFacts({ dnssec: null });
  await database.published();
}

/**
 * Tells the parent zone of a zone, if it is a zone of this server.
 *
 * @param signer `null`: the zone is not signed
 */
export async function announceSigner(
  env: Env,
  child: string,
  signer: DelegationSigner | null,
): Promise<void> {
  const parent = await findParent(env, child);
  await parent?.setDelegationSigner(child, signer);
}

/** The DS record for a delegated name, if the zone with that name is here and is signed. */
export async function findSigner(env: Env, name: string): Promise<DelegationSigner | null> {
  const zone = await env.ZONE_INDEX.getByName(indexName).findFor(name);
  return zone?.name === name ? await signingZone(env, zone.id).delegationSigner() : null;
}

/** The zone that contains the delegation of a zone; `null` when it is not a zone of this server. */
async function findParent(env: Env, child: string): Promise<DurableObjectStub<SigningZone> | null> {
  const parentName = child.slice(child.indexOf(".") + 1);
  if (!child.includes(".")) return null;
  const parent = await env.ZONE_INDEX.getByName(indexName).findFor(parentName);
  return parent === null ? null : signingZone(env, parent.id);
}

function signingZone(env: Env, id: string): DurableObjectStub<SigningZone> {
  return env.ZONES.getByName(id) as unknown as DurableObjectStub<SigningZone>;
}

export function hasSignerOf(
  { identity, records }: ZoneDatabase,
  child: string,
  digest: string,
): boolean {
  const existing = identity === null ? [] : records.named(child);
  return existing.some(({ type, content }) => type === "DS" && content.endsWith(` ${digest}`));
}

/** In a transaction of the parent zone: makes its DS record for a delegated name right. */
export function settleDelegationSigner(
  transaction: ZoneTransaction,
  child: string,
  signer: DelegationSigner | null,
): void {
  const { database } = transaction;
  const { [child]: ownId, ...others } = database.get("delegation_signers");
  const existing = database.records.named(child);
  const wanted = existing.some(({ type }) => type === "NS") ? signer : null;
  if (wanted !== null && hasSignerOf(database, child, wanted.digest)) return;
  if (existing.some(({ id }) => id === ownId)) transaction.remove(ownId!);
  if (wanted !== null) {
    const comment = "Set by DNSSEC of the delegated zone";
    const request = { type: "DS", name: child, data: wanted, ttl: 1, comment };
    database.set({ delegation_signers: { ...others, [child]: transaction.create(request).id } });
  } else if (ownId !== undefined) database.set({ delegation_signers: others });
}
