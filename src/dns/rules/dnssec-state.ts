/** DNSSEC of a zone: the API resource `dnssec`, the roll of its keys, and the state that a zone keeps for it. */
import { keysAt, rollStageAt, rollTimes } from "../dnssec/key-roll.ts";
import { signatureAlgorithm } from "../dnssec/signature.ts";
import {
  digestType,
  keySigningFlags,
  type KeyPair,
  type KeyRoll,
  type ZoneKeys,
} from "../dnssec/zone-signing.ts";
import { problem, type ReportProblem } from "../record/problem.ts";

export interface DnssecState {
  readonly isOn: boolean;
  /** Kept while DNSSEC is off, so that the DS record stays the same. */
  readonly keys: ZoneKeys;
  /** Another provider signs the zone too. The record API creates its DNSKEY records. */
  readonly isMultiSigner: boolean;
  readonly modifiedOn: string;
}

/**
 * Deviation: a zone whose parent is not a zone of this server is active at once, because its DS record
 * cannot be found. "pending": the parent zone is a zone of this server, and has no DS record
 * for the zone.
 */
export type DnssecStatus = "active" | "pending" | "disabled";

export interface DnssecPatch {
  readonly isOn?: boolean;
  readonly isMultiSigner?: boolean;
}

const statuses = ["active", "disabled"];
/** The TTL in the text of the DS record, as the deployed service writes it. */
const dsTtlSeconds = 3600;

/** What cannot be turned on, and why. Deviation: the deployed service has both. */
const unsupported = {
  dnssec_use_nsec3:
    "zones are signed with NSEC records that cover one name each (RFC 9824), so NSEC3 would hide nothing more",
  dnssec_presigned: "zones are signed while they answer, and no transferred signatures are served",
};

export function acceptDnssecPatch(
  input: Readonly<Record<string, unknown>>,
  report: ReportProblem,
): DnssecPatch {
  const { status, dnssec_multi_signer: isMultiSigner } = input;
  if (status !== undefined && !statuses.includes(status as string)) {
    report(problem.notOneOf("status", statuses));
  }
  if (isMultiSigner !== undefined && typeof isMultiSigner !== "boolean") {
    report(problem.notABoolean("dnssec_multi_signer"));
  }
  for (const [name, reason] of Object.entries(unsupported)) {
    const value = input[name];
    if (value === true) report(problem.dnssecUnsupported(name, reason));
    else if (value !== undefined && value !== false) report(problem.notABoolean(name));
  }
  return {
    ...(status !== undefined && { isOn: status === "active" }),
    ...(typeof isMultiSigner === "boolean" && { isMultiSigner }),
  };
}

/** The fields of a DS record, as the record API takes them in `data`. */
export type DelegationSigner = ReturnType<typeof delegationSigner>;

function delegationSigner({ keySigningKey, digest }: KeyPair) {
  const { keyTag } = keySigningKey;
  return { key_tag: keyTag, algorithm: signatureAlgorithm, digest_type: digestType, digest };
}

/**
 * The DS set of a parent on the same server. During a roll it has the records of both pairs, from the
 * start: either of them leads to a key that signs, so the set need not change at a certain time.
 */
export function delegationSigners(keys: ZoneKeys, nowSeconds: number): DelegationSigner[] {
  const { announced } = keysAt(keys, nowSeconds);
  const pairs = rollStageAt(keys, nowSeconds) === null ? [announced] : [keys, keys.roll!.next];
  const signers = pairs.map(delegationSigner);
  return signers.filter(({ digest }, at) => signers[at - 1]?.digest !== digest);
}

/** The JSON of the resource. A zone that was never signed has no key to show. */
export function describeDnssec(
  zoneName: string,
  state: DnssecState | null,
  status: DnssecStatus,
  nowSeconds: number,
): Record<string, unknown> {
  const switches = {
    dnssec_multi_signer: state?.isMultiSigner ?? false,
    dnssec_presigned: false,
    dnssec_use_nsec3: false,
  };
  const modified = { modified_on: state?.modifiedOn ?? null };
  if (state === null) {
    const names = ["flags", "algorithm", "key_type", "digest_type", "digest_algorithm", "digest"];
    const none = [...names, "ds", "key_tag", "public_key"].map((name) => [name, null]);
    return { status, ...Object.fromEntries(none), ...switches, ...modified };
  }
  const { announced } = keysAt(state.keys, nowSeconds);
  const { key_tag, algorithm, digest_type, digest } = delegationSigner(announced);
  return {
    status,
    flags: keySigningFlags,
    algorithm: String(algorithm),
    key_type: "ECDSAP256SHA256",
    digest_type: String(digest_type),
    digest_algorithm: "SHA256",
    digest: digest.toUpperCase(),
    ds: dsText(zoneName, announced),
    key_tag,
    public_key: announced.keySigningKey.publicKey,
    ...switches,
    ...modified,
  };
}

function dsText(zoneName: string, pair: KeyPair): string {
  const { key_tag, algorithm, digest_type, digest } = delegationSigner(pair);
  const data = `${key_tag} ${algorithm} ${digest_type} ${digest.toUpperCase()}`;
  return `${zoneName}. ${dsTtlSeconds} IN DS ${data}`;
}

/** What a roll replaces: both keys, or one of them. */
const rolledKeys = ["both", "ksk", "zsk"] as const;

export interface RollRequest {
  readonly keys: (typeof rolledKeys)[number];
  readonly paceSeconds: number | null;
}

/** A shorter stage could end before its first answer. */
const paceSecondsMin = 1;
const paceSecondsMax = 86_400;

export function acceptRollRequest(
  { keys = "both", pace_seconds: pace = null }: Readonly<Record<string, unknown>>,
  report: ReportProblem,
): RollRequest {
  const found = rolledKeys.find((known) => known === keys);
  if (found === undefined) report(problem.notOneOf("keys", rolledKeys));
  const isPace = Number.isInteger(pace) && Number(pace) >= paceSecondsMin;
  if (pace !== null && !(isPace && Number(pace) <= paceSecondsMax)) {
    report(problem.integerRange("pace_seconds", paceSecondsMin, paceSecondsMax));
  }
  return { keys: found ?? "both", paceSeconds: pace as number | null };
}

/** @param made a new pair */
export function beginRoll(
  { keySigningKey, zoneSigningKey, digest }: KeyPair,
  made: KeyPair,
  { keys, paceSeconds }: RollRequest,
  startSeconds: number,
): ZoneKeys {
  const current = { keySigningKey, zoneSigningKey, digest };
  const next = {
    both: made,
    ksk: { ...made, zoneSigningKey },
    zsk: { ...current, zoneSigningKey: made.zoneSigningKey },
  }[keys];
  // Without another KSK the parent has nothing to change.
  const dsSeconds = keys === "zsk" ? startSeconds : null;
  return { ...current, roll: { next, startSeconds, dsSeconds, paceSeconds } };
}

/** `null` when no roll is in progress. */
export function describeRoll(
  zoneName: string,
  keys: ZoneKeys | null,
  nowSeconds: number,
): Record<string, unknown> | null {
  const stage = keys === null ? null : rollStageAt(keys, nowSeconds);
  if (keys === null || stage === null) return null;
  const roll = keys.roll as KeyRoll;
  const { replaceSeconds, endSeconds } = rollTimes(roll);
  const untilSeconds = stage === "publish" ? replaceSeconds : endSeconds;
  return {
    zone: zoneName,
    stage,
    started_on: isoTime(roll.startSeconds),
    until: isoTime(untilSeconds),
    ends_on: isoTime(endSeconds),
    awaits_ds: roll.dsSeconds === null,
    pace_seconds: roll.paceSeconds,
    old: keyTags(keys),
    new: { ...keyTags(roll.next), ds: dsText(zoneName, roll.next) },
  };
}

function keyTags({ keySigningKey, zoneSigningKey }: KeyPair) {
  return { ksk: keySigningKey.keyTag, zsk: zoneSigningKey.keyTag };
}

/** `null` for a time that depends on the parent. */
export function isoTime(seconds: number): string | null {
  return seconds === Infinity ? null : new Date(seconds * 1000).toISOString();
}
