/** DNSSEC of a zone: the API resource `dnssec`, and the state that a zone keeps for it. */
import { signatureAlgorithm } from "../dnssec/signature.ts";
import { digestType, keySigningFlags, type ZoneKeys } from "../dnssec/zone-signing.ts";
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

export function delegationSigner({ keySigningKey, digest }: ZoneKeys) {
  const { keyTag } = keySigningKey;
  return { key_tag: keyTag, algorithm: signatureAlgorithm, digest_type: digestType, digest };
}

/** The JSON of the resource. A zone that was never signed has no key to show. */
export function describeDnssec(
  zoneName: string,
  state: DnssecState | null,
  status: DnssecStatus,
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
  const { keySigningKey } = state.keys;
  const { key_tag, algorithm, digest_type, digest } = delegationSigner(state.keys);
  const digestText = digest.toUpperCase();
  return {
    status,
    flags: keySigningFlags,
    algorithm: String(algorithm),
    key_type: "ECDSAP256SHA256",
    digest_type: String(digest_type),
    digest_algorithm: "SHA256",
    digest: digestText,
    ds: `${zoneName}. ${dsTtlSeconds} IN DS ${key_tag} ${algorithm} ${digest_type} ${digestText}`,
    key_tag,
    public_key: keySigningKey.publicKey,
    ...switches,
    ...modified,
  };
}
