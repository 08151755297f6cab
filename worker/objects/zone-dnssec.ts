/**
 * DNSSEC of one zone, the roll of its keys, and the DS records that zones of this server have for each
 * other.
 *
 * Turning DNSSEC on publishes the keys before the parent zone has the DS record, and turning it off
 * removes the DS record first: at no time does a parent announce keys that the zone does not have.
 *
 * A zone tells its parent zone when its keys change (`announceSigners`), and a parent zone asks its
 * child when the NS records of a delegation change (`findSigners`). Either way the parent decides by
 * what it has: it sets the DS record only beside NS records, and removes only a record that was set
 * here.
 *
 * The servers follow a roll by the time alone (`key-roll.ts`). `settleRoll` does what is left for the zone:
 * a parent here gets the DS record of the new key, and after the end the old keys are deleted. It may be
 * late, as after a restart, and may be repeated.
 */
import { keysAt, rollStageAt, rollTimes, settledKeys } from "../../src/dns/dnssec/key-roll.ts";
import { problem, ZoneError } from "../../src/dns/record/problem.ts";
import { parentName } from "../../src/dns/record/record-name.ts";
import {
  beginRoll,
  delegationSigners,
  describeDnssec,
  describeRoll,
  isoTime,
  type DelegationSigner,
  type DnssecPatch,
  type DnssecState,
  type DnssecStatus,
  type RollRequest,
} from "../../src/dns/rules/dnssec-state.ts";
import { indexName, type Env, type ObjectReply } from "./object-call.ts";
import type { ZoneDatabase } from "./zone-database.ts";
import type { ZoneTransaction } from "./zone-transaction.ts";
import { makeZoneKeys } from "./zone-keys.ts";
import { zoneTestSession } from "./zone-test-session.ts";

/** The part of `ZoneObject` that is called here: the class depends on this file. */
interface SigningZone extends Rpc.DurableObjectBranded {
  delegationSigners(): readonly DelegationSigner[];
  hasDelegationSigner(child: string, digest: string): boolean;
  setDelegationSigners(child: string, signers: readonly DelegationSigner[]): Promise<ObjectReply>;
}

/** Empty when the zone is not signed. */
export function signersOf(database: ZoneDatabase): readonly DelegationSigner[] {
  const dnssec = database.identity === null ? null : database.get("dnssec");
  if (dnssec?.isOn !== true) return [];
  return delegationSigners(dnssec.keys, zoneTestSession.nowSeconds());
}

export async function readDnssec(
  database: ZoneDatabase,
  env: Env,
): Promise<Record<string, unknown>> {
  const { name } = database.requireIdentity();
  const dnssec = database.get("dnssec");
  const now = zoneTestSession.nowSeconds();
  let status: DnssecStatus = "disabled";
  if (dnssec?.isOn === true) {
    const parent = await findParent(env, name);
    // A parent that is not a zone of this server counts as announcing the keys.
    const { digest } = keysAt(dnssec.keys, now).announced;
    const isSet = parent === null || (await parent.hasDelegationSigner(name, digest));
    status = isSet ? "active" : "pending";
  }
  return describeDnssec(name, dnssec, status, now);
}

/** A repeated call changes nothing. */
export async function changeDnssec(
  database: ZoneDatabase,
  env: Env,
  { isOn, isMultiSigner }: DnssecPatch,
): Promise<void> {
  const { name } = database.requireIdentity();
  if (isOn === false) await announceSigners(env, name, []);
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
  if (next.isOn) await announceSigners(env, name, signersOf(database));
}

export async function removeDnssec(database: ZoneDatabase, env: Env): Promise<void> {
  const { name } = database.requireIdentity();
  await announceSigners(env, name, []);
  if (database.get("dnssec") !== null) database.writeFacts({ dnssec: null });
  await database.published();
}

/** @throws ZoneError when the zone is not signed, or when a roll is in progress */
export async function startRoll(
  database: ZoneDatabase,
  env: Env,
  request: RollRequest,
): Promise<void> {
  const { name } = database.requireIdentity();
  await settleRoll(database, env);
  const made = await makeZoneKeys(name);
  const now = zoneTestSession.nowSeconds();
  const dnssec = database.get("dnssec");
  if (dnssec?.isOn !== true) {
    refuseRoll(`DNSSEC of ${name} is off, so no keys are in use: turn DNSSEC on first.`);
  }
  const { roll } = dnssec.keys;
  if (roll !== undefined) {
    const end = isoTime(rollTimes(roll).endSeconds);
    const when = end === null ? "when the parent has the new DS record" : `at ${end}`;
    refuseRoll(`A roll of the keys of ${name} is in progress. It ends ${when}.`);
  }
  writeKeys(database, dnssec, beginRoll(dnssec.keys, made, request, now));
  await database.published();
  await settleRoll(database, env);
}

/** The parent, which is not a zone of this server, has the DS record of the new key. A repeated call changes nothing. */
export async function confirmDelegationSigner(database: ZoneDatabase): Promise<void> {
  const { name } = database.requireIdentity();
  const now = zoneTestSession.nowSeconds();
  const dnssec = database.get("dnssec");
  const stage = dnssec === null ? null : rollStageAt(dnssec.keys, now);
  if (dnssec?.keys.roll === undefined || stage === null) {
    refuseRoll(`No roll of the keys of ${name} is in progress.`);
  }
  const { roll } = dnssec.keys;
  if (stage === "publish") {
    const time = isoTime(rollTimes(roll).replaceSeconds);
    refuseRoll(
      `Caches may lack the new key of ${name} until ${time}: give the parent the new DS record after that.`,
    );
  }
  if (roll.dsSeconds === null) {
    writeKeys(database, dnssec, { ...dnssec.keys, roll: { ...roll, dsSeconds: now } });
  }
  await database.published();
}

/** @returns when this has to be done again, in milliseconds of the real time; `null`: never */
export async function settleRoll(database: ZoneDatabase, env: Env): Promise<number | null> {
  const name = database.identity?.name;
  if (name === undefined || database.get("dnssec")?.keys.roll === undefined) return null;
  const parent = await findParent(env, name);
  await parent?.setDelegationSigners(name, signersOf(database));
  // Other calls may have written meanwhile.
  const dnssec = database.identity === null ? null : database.get("dnssec");
  const roll = dnssec?.keys.roll;
  if (dnssec === null || roll === undefined) return null;
  const now = zoneTestSession.nowSeconds();
  const isTold = parent !== null && roll.dsSeconds === null && dnssec.isOn;
  const current = isTold ? { ...roll, dsSeconds: now } : roll;
  const keys = settledKeys({ ...dnssec.keys, roll: current }, now);
  if (isTold || keys.roll === undefined) writeKeys(database, dnssec, keys);
  await database.published();
  if (keys.roll === undefined) return null;
  const { endSeconds } = rollTimes(current);
  return endSeconds === Infinity
    ? null
    : endSeconds * 1000 - zoneTestSession.clockOffsetMilliseconds;
}

export function readRoll(database: ZoneDatabase): Record<string, unknown> | null {
  const { name } = database.requireIdentity();
  const keys = database.get("dnssec")?.keys ?? null;
  return describeRoll(name, keys, zoneTestSession.nowSeconds());
}

function refuseRoll(reason: string): never {
  throw new ZoneError([problem.rollRefused(reason)]);
}

function writeKeys(database: ZoneDatabase, dnssec: DnssecState, keys: DnssecState["keys"]): void {
  database.writeFacts({ dnssec: { ...dnssec, keys, modifiedOn: new Date().toISOString() } });
}

/**
 * Tells the parent zone of a zone, if it is a zone of this server.
 *
 * @param signers empty: the zone is not signed
 */
export async function announceSigners(
  env: Env,
  child: string,
  signers: readonly DelegationSigner[],
): Promise<void> {
  const parent = await findParent(env, child);
  await parent?.setDelegationSigners(child, signers);
}

/** The DS records for a delegated name, if the zone with that name is here and is signed. */
export async function findSigners(env: Env, name: string): Promise<readonly DelegationSigner[]> {
  const zone = await env.ZONE_INDEX.getByName(indexName).findFor(name);
  return zone?.name === name ? await signingZone(env, zone.id).delegationSigners() : [];
}

/** The zone that contains the delegation of a zone; `null` when it is not a zone of this server. */
async function findParent(env: Env, child: string): Promise<DurableObjectStub<SigningZone> | null> {
  const parent = await env.ZONE_INDEX.getByName(indexName).findFor(parentName(child));
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

/** In a transaction of the parent zone: makes its DS records for a delegated name right. */
export function settleDelegationSigners(
  transaction: ZoneTransaction,
  child: string,
  signers: readonly DelegationSigner[],
): void {
  const { database } = transaction;
  const { [child]: stored = [], ...others } = database.get("delegation_signers");
  // Earlier versions stored the id of the only record.
  const ids = [stored].flat();
  const existing = database.records.named(child);
  const wanted = existing.some(({ type }) => type === "NS") ? signers : [];
  const isWanted = ({ content }: { readonly content: string }) =>
    wanted.some(({ digest }) => content.endsWith(` ${digest}`));
  const own = existing.filter(({ id }) => ids.includes(id));
  const kept = own.filter(isWanted).map(({ id }) => id);
  const missing = wanted.filter(({ digest }) => !hasSignerOf(database, child, digest));
  if (missing.length === 0 && kept.length === ids.length) return;
  for (const record of own) if (!isWanted(record)) transaction.remove(record.id);
  const comment = "Set by DNSSEC of the delegated zone";
  for (const data of missing) {
    kept.push(transaction.create({ type: "DS", name: child, data, ttl: 1, comment }).id);
  }
  const set = kept.length === 0 ? others : { ...others, [child]: kept };
  database.set({ delegation_signers: set });
}
