/**
 * Finds out what an S3 service honours, with requests to keys of its own below the prefix (`probe-keys.ts`), which it
 * removes afterwards.
 *
 * A service can ignore a condition, refuse each request that has one, or honour it. Only a service that refuses a
 * condition that does not hold, and executes one that holds, honours it: so each form is tried by itself first. Then
 * requests race (`probe-races.ts`), because a service can honour a condition and lose updates nevertheless.
 */
import { md5 } from "../core/hash.ts";
import { probeKeyStart, removeLeftovers, removeProbeObjects } from "./probe-keys.ts";
import {
  allDone,
  attempt,
  openCompletion,
  raceCompletions,
  raceConditionalDeletes,
  raceDeletes,
  racePuts,
  raceUnconditionalPuts,
  runRace,
  store,
  type Outcome,
  type Race,
} from "./probe-races.ts";
import { requireFeatures } from "./remote-gaps.ts";
import type { RemoteFeatures, RemoteGap, RemoteService } from "./remote-options.ts";
import { identifyService } from "./remote-service.ts";
import { nameOf } from "./remote-sentences.ts";
import { otherTag, putHeaders } from "./remote-writes.ts";
import { parseDocument, readText } from "./s3-answer.ts";
import type { S3Connection, S3Request } from "./s3-connection.ts";
import { RemoteError } from "./s3-transport.ts";

const content = new TextEncoder().encode("ledge");

/** @throws RemoteError when the service or the bucket cannot be used: the message says why */
export async function probe(connection: S3Connection): Promise<RemoteFeatures> {
  await requireBucket(connection);
  const service = await identifyService(connection);
  const hasVersions = service.versioning === "enabled" || service.versioning === "suspended";
  await removeLeftovers(connection, hasVersions);
  const start = probeKeyStart(connection);
  const [outcome] = await Promise.allSettled([findFeatures(connection, start, service)]);
  // Also after a failure. What cannot be removed is a failure too: buckets need to delete.
  const [removal] = await Promise.allSettled([removeProbeObjects(connection, start, hasVersions)]);
  if (outcome.status === "rejected") throw outcome.reason;
  if (removal.status === "rejected") throw removal.reason;
  return outcome.value;
}

/**
 * What the service of a bucket honours, if the service is the one that was probed: then this is one request. If not,
 * because it was upgraded or its bucket has versions by now, the service is probed again.
 *
 * @param hasVersionIds whether answers name versions: a service that does not say whether the bucket has versions is
 *   probed then
 * @throws RemoteError also when the other service does not hold what the bucket needs
 */
export async function confirmFeatures(
  connection: S3Connection,
  known: RemoteFeatures,
  accept: readonly RemoteGap[],
  hasVersionIds = false,
): Promise<RemoteFeatures> {
  const { server, versioning } = await identifyService(connection);
  const isSame = server === known.service.server && versioning === known.service.versioning;
  if (isSame && !(hasVersionIds && versioning === "unknown")) return known;
  const features = await probe(connection);
  requireFeatures(connection.place, features, accept);
  return features;
}

async function findFeatures(
  connection: S3Connection,
  start: string,
  service: RemoteService,
): Promise<RemoteFeatures> {
  const write = { method: "PUT", body: content } as const;
  const [noneMatch, quoted, unquoted, isDeleteChecked, isCompletionChecked, unequalTag, etag] =
    await allDone([
      honoursNoneMatch(connection, `${start}none-match`),
      honoursTag(connection, { ...write, key: `${start}quoted` }, '"'),
      honoursTag(connection, { ...write, key: `${start}unquoted` }, ""),
      honoursTag(connection, { method: "DELETE", key: `${start}delete` }, '"'),
      honoursComplete(connection, `${start}complete`),
      tryUnequalTag(connection, `${start}unequal`),
      store(connection, `${start}tag`, content),
    ]);
  const putIfMatch = quoted ? "quoted" : unquoted ? "unquoted" : null;
  const form = { putIfMatch, putIfNoneMatch: noneMatch } as const;
  const run = (name: string, race: Race) => runRace(connection, `${start}race-${name}`, race);
  const seen: Partial<Record<RemoteGap, string>> = {};

  const ignored = [
    ...(noneMatch ? [] : ["If-None-Match"]),
    ...(putIfMatch === null ? ["If-Match"] : []),
  ];
  const putFault =
    ignored.length > 0
      ? `it ignores ${ignored.join(" and ")} of a put`
      : ((await run("absent", racePuts(form, "absent"))) ??
        (await run("present", racePuts(form, "present"))));
  if (putFault !== null) seen["conditional-put"] = putFault;

  const completionFault = isCompletionChecked
    ? await run("complete", raceCompletions)
    : "it ignores If-None-Match of a completion";
  if (completionFault !== null) seen["conditional-complete"] = completionFault;

  // Without conditional puts, nothing can contradict a delete, or a put without a condition.
  const isRaced = putFault === null;
  const deleteRace = async () =>
    isRaced ? run("conditional-delete", raceConditionalDeletes(form)) : null;
  const deleteFault = isDeleteChecked ? await deleteRace() : "it ignores If-Match of a delete";
  const plainDeleteFault = isRaced ? await run("delete", raceDeletes(form)) : null;
  if (deleteFault !== null) seen["conditional-delete"] = deleteFault;
  if (deleteFault !== null && plainDeleteFault !== null) {
    seen["conditional-delete"] = `${deleteFault}; ${plainDeleteFault}`;
  }
  const holds = async (put: "plain" | "unequal tag"): Promise<boolean> =>
    !isRaced || (await run(put.replace(" ", "-"), raceUnconditionalPuts(form, put))) === null;
  // A service that compares tags never acknowledges a put that has lost a race. Few races show that a service does so
  // with plain puts: they are used only where the service says that it has no such condition.
  const candidates = { executed: "unequal tag", other: "plain", refused: null } as const;
  const candidate = candidates[unequalTag];
  const unconditionalPut = candidate !== null && (await holds(candidate)) ? candidate : null;

  return {
    putIfMatch,
    putIfNoneMatch: noneMatch,
    conditionalComplete: completionFault === null,
    conditionalDelete: deleteFault === null,
    unconditionalPut,
    unconditionalDelete: plainDeleteFault === null,
    etagIsMd5: etag === md5(content),
    service,
    seen,
  };
}

/**
 * Finds out whether the bucket can be read, and writes nothing. A list has a document in any case: the
 * answer to HEAD does not say why a bucket is refused.
 *
 * @throws RemoteError as `probe`
 */
export async function requireBucket(connection: S3Connection): Promise<void> {
  const { place } = connection;
  const answer = await connection.send({
    method: "GET",
    query: [
      ["list-type", "2"],
      ["max-keys", "1"],
      ["prefix", place.prefix],
    ],
  });
  const { status, error } = answer;
  const document = parseDocument(await readText(answer));
  if (status === 200 && document?.name === "ListBucketResult") return;
  const reason = error === null ? `status ${status}, and no list` : error.code;
  throw new RemoteError(
    "refused",
    `${nameOf(place)} is no S3 service, or has no list of the bucket "${place.bucketName}": ` +
      `the answer has ${reason}. Correct endpoint of [remotes.${place.remote}].`,
    { status },
  );
}

async function honoursNoneMatch(connection: S3Connection, key: string): Promise<boolean> {
  const headers = { "if-none-match": "*" };
  const first = await attempt(connection, { method: "PUT", key, body: content, headers });
  const second = await attempt(connection, { method: "PUT", key, body: content, headers });
  return first === "executed" && second === "refused";
}

/** Whether a request with an entity tag of another content is refused, and with the tag of the object executed. */
async function honoursTag(
  connection: S3Connection,
  request: S3Request & { readonly key: string },
  quote: string,
): Promise<boolean> {
  const etag = await store(connection, request.key, content);
  const attemptIfMatch = (tag: string) =>
    attempt(connection, { ...request, headers: { "if-match": quote + tag + quote } });
  if ((await attemptIfMatch(otherTag)) !== "refused") return false;
  return (await attemptIfMatch(etag)) === "executed";
}

/**
 * A put that requires any other object, also where there is none.
 *
 * @returns `refused` also for a service that executes such a put for the same object
 */
async function tryUnequalTag(connection: S3Connection, key: string): Promise<Outcome> {
  const attemptUnequal = (headers: Record<string, string>) =>
    attempt(connection, { method: "PUT", key, body: content, headers });
  const first = await attemptUnequal(putHeaders("unequal tag"));
  if (first !== "executed") return first;
  if ((await attemptUnequal(putHeaders("unequal tag"))) !== "executed") return "refused";
  const etag = await store(connection, key, content);
  const same = await attemptUnequal({ "if-none-match": `"${etag}"` });
  return same === "refused" ? "executed" : "refused";
}

async function honoursComplete(connection: S3Connection, key: string): Promise<boolean> {
  await store(connection, key, content);
  const completion = await openCompletion(connection, key, content);
  return (await attempt(connection, completion)) === "refused";
}
