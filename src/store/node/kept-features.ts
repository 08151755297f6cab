/**
 * What the S3 services of this process honour. A probe sends hundreds of requests, so the result is kept: in this
 * process, and in a file of the state folder, where the next process asks only which service it is.
 *
 *     remotes/HASH.json     the hash is of the endpoint, the region and the bucket
 *
 * A file is valid for a day, because an upgrade of a service does not always change how the service names itself.
 * A result that is refused is not kept: the service may be changed, and named as before.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { makePrivateFolder, writeWhole } from "../../base/private-files.ts";
import { confirmFeatures, probe } from "../remote/probe.ts";
import { requireFeatures } from "../remote/remote-gaps.ts";
import type { RemoteAccess, RemoteFeatures } from "../remote/remote-options.ts";
import { S3Connection } from "../remote/s3-connection.ts";
import type { S3Transport } from "../remote/s3-transport.ts";

/** Of the file. A probe that finds out more has another number. */
const format = 1;
const ageMillisecondsMax = 24 * 3_600_000;

export interface FindOptions {
  /** The folder of the store's files; without it, the result is kept in this process only. */
  readonly storeFolder?: string;
  /** Whether the service is probed in any case. */
  readonly isAsked?: boolean;
}

const found = new Map<string, Promise<RemoteFeatures>>();

/** @throws RemoteError for a service that cannot be used, or that lacks what the bucket needs */
export async function findFeatures(
  access: RemoteAccess,
  transport: S3Transport,
  { storeFolder, isAsked = false }: FindOptions,
): Promise<RemoteFeatures> {
  const { credentials, accept, ...place } = access;
  const { endpoint, region, bucketName } = place;
  const key = JSON.stringify([endpoint, region, bucketName]);
  const file = storeFolder && join(storeFolder, "remotes", `${hash(key)}.json`);
  const inProcess = JSON.stringify([key, credentials]);
  const kept = isAsked || file === undefined ? null : readKept(file);
  let asked = isAsked ? undefined : found.get(inProcess);
  if (asked === undefined) {
    const connection = new S3Connection(place, credentials, transport);
    asked = kept === null ? probe(connection) : confirmFeatures(connection, kept, accept);
    found.set(inProcess, asked);
    asked.catch(() => found.delete(inProcess));
  }
  const features = await asked;
  requireFeatures(place, features, accept);
  if (file !== undefined && !isDeepStrictEqual(features, kept)) keep(file, features);
  return features;
}

function readKept(file: string): RemoteFeatures | null {
  try {
    const kept = JSON.parse(readFileSync(file, "utf8")) as Kept;
    const age = Date.now() - kept.time;
    return kept.format === format && age >= 0 && age < ageMillisecondsMax ? kept.features : null;
  } catch {
    // There is no file, or the file cannot be read: the probe finds the same.
    return null;
  }
}

function keep(file: string, features: RemoteFeatures): void {
  const kept: Kept = { format, time: Date.now(), features };
  try {
    makePrivateFolder(dirname(file));
    writeWhole(file, JSON.stringify(kept));
  } catch {
    // A folder that cannot be written costs a probe in the next process.
  }
}

interface Kept {
  readonly format: number;
  /** When the service was probed, in milliseconds since the epoch. */
  readonly time: number;
  readonly features: RemoteFeatures;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
