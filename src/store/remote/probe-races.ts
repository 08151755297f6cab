/**
 * Races of the probe: requests that reach the service at the same time. A service can honour each condition by itself
 * and lose updates in a race, when it compares in one step and writes in another.
 *
 * A race looks for answers that contradict each other. A request with an unknown outcome contradicts nothing.
 */
import { childText, writeXml } from "../../http/xml.ts";
import { etagOf } from "./remote-object.ts";
import { nameOf } from "./remote-sentences.ts";
import { isPutOff } from "./retry.ts";
import { guardHeaders, putHeaders, type PutForm } from "./remote-writes.ts";
import { errorIn, parseDocument, readText } from "./s3-answer.ts";
import type { S3Connection, S3Request } from "./s3-connection.ts";
import { RemoteError } from "./s3-transport.ts";

const racersMax = 16;
const roundsMax = 3;

/** `refused`: the condition does not hold. `other`: the service does not take the request, or its outcome is unknown. */
export type Outcome = "executed" | "refused" | "other";

/** @returns what contradicts itself, for people; `null` if nothing does */
export type Race = (connection: S3Connection, key: string) => Promise<string | null>;

/** Some rounds, each with keys of its own, until one contradicts itself. */
export async function runRace(
  connection: S3Connection,
  key: string,
  race: Race,
): Promise<string | null> {
  for (let round = 1; round <= roundsMax; round++) {
    const contradiction = await race(connection, `${key}-${round}`);
    if (contradiction !== null) return contradiction;
  }
  return null;
}

/** Puts that all require no object, or the same object: one may succeed. */
export function racePuts(form: PutForm, kind: "absent" | "present"): Race {
  return async (connection, key) => {
    const guard = kind === "absent" ? kind : { etag: await store(connection, key) };
    const headers = guardHeaders(guard, form);
    const outcomes = await racing((number) =>
      attempt(connection, { method: "PUT", key, body: contentOf(number), headers }),
    );
    return contradictionOf(connection, { key, outcomes, what: "puts with one condition" });
  };
}

/** Completions of uploads of one key that all require no object: one may succeed. */
export const raceCompletions: Race = async (connection, key) => {
  const requests = await racing((number) => openCompletion(connection, key, contentOf(number)));
  const outcomes = await allDone(requests.map((request) => attempt(connection, request)));
  return contradictionOf(connection, { key, outcomes, what: "completions with one condition" });
};

interface Finish {
  readonly key: string;
  readonly outcomes: readonly Outcome[];
  readonly what: string;
}

async function contradictionOf(
  connection: S3Connection,
  { key, outcomes, what }: Finish,
): Promise<string | null> {
  const winners = outcomes.flatMap((outcome, number) => (outcome === "executed" ? [number] : []));
  if (winners.length > 1) return `${winners.length} of ${outcomes.length} racing ${what} succeeded`;
  const [winner] = winners;
  if (winner === undefined || (await read(connection, key)) === textOf(winner)) return null;
  return `one of ${outcomes.length} racing ${what} succeeded, and the object is another`;
}

/** A put and a delete that require the same object: one may succeed. */
export function raceConditionalDeletes(form: PutForm): Race {
  return pairs(form, {
    request: (guarding) => ({ method: "DELETE", headers: guarding }),
    isContradiction: async () => true,
    what: "a delete and a put that required the same object both succeeded",
  });
}

/** A delete without a condition is before the put, which then fails, or after the put: then there is no object. */
export function raceDeletes(form: PutForm): Race {
  return pairs(form, {
    request: () => ({ method: "DELETE" }),
    isContradiction: async (connection, key) => (await read(connection, key)) !== null,
    what: "a delete succeeded beside a conditional put, and the object is there",
  });
}

/** A put without a condition is before the conditional put, which then fails, or after: then its object is there. */
export function raceUnconditionalPuts(form: PutForm, put: "plain" | "unequal tag"): Race {
  return pairs(form, {
    request: () => ({ method: "PUT", body: contentOf(1), headers: putHeaders(put) }),
    isContradiction: async (connection, key) => (await read(connection, key)) === textOf(0),
    what: "a put without a condition was acknowledged, and a conditional put did not see it",
  });
}

interface Pair {
  readonly request: (
    guarding: Record<string, string>,
  ) => Pick<S3Request, "method" | "headers" | "body">;
  /** Whether both cannot have succeeded. */
  readonly isContradiction: (connection: S3Connection, key: string) => Promise<boolean>;
  readonly what: string;
}

/** Pairs on keys of their own, all at once: a conditional put, and another request. */
function pairs(form: PutForm, { request, isContradiction, what }: Pair): Race {
  return async (connection, start) => {
    const keys = Array.from({ length: racersMax }, (_, index) => `${start}-${index}`);
    const tags = await allDone(keys.map((key) => store(connection, key)));
    const found = await allDone(
      keys.map(async (key, index) => {
        const guarding = guardHeaders({ etag: tags[index] as string }, form);
        const put: S3Request = { method: "PUT", key, body: contentOf(0), headers: guarding };
        const other: S3Request = { ...request(guarding), key };
        const outcomes = await allDone(
          // Both orders, because the requests can arrive as they were sent.
          (index % 2 === 0 ? [put, other] : [other, put]).map((each) => attempt(connection, each)),
        );
        if (outcomes.some((outcome) => outcome !== "executed")) return false;
        return isContradiction(connection, key);
      }),
    );
    const count = found.filter(Boolean).length;
    return count === 0 ? null : `in ${count} of ${keys.length} races, ${what}`;
  };
}

function racing<Value>(run: (racer: number) => Promise<Value>): Promise<Value[]> {
  return allDone(Array.from({ length: racersMax }, (_, racer) => run(racer)));
}

/** Like `Promise.all()`, but ends when all have ended: nothing is written after the probe removes its objects. */
export async function allDone<Values extends readonly unknown[]>(
  work: readonly [...{ [Index in keyof Values]: Promise<Values[Index]> }],
): Promise<Values> {
  const outcomes = await Promise.allSettled(work as readonly Promise<unknown>[]);
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  return outcomes.map((outcome) => (outcome as PromiseFulfilledResult<unknown>).value) as never;
}

const textOf = (racer: number): string => `racer ${racer}`;
const contentOf = (racer: number): Uint8Array => new TextEncoder().encode(textOf(racer));

export async function attempt(connection: S3Connection, request: S3Request): Promise<Outcome> {
  try {
    const answer = await connection.send(request);
    const { status } = answer;
    const text = await readText(answer);
    // 404: there is no object that could match.
    if (status === 412 || status === 409 || status === 404) return "refused";
    if (status >= 300) return "other";
    // The status of a completion can be sent before its outcome is known.
    const code = errorIn(parseDocument(text))?.code;
    if (code === undefined) return "executed";
    return code === "PreconditionFailed" ? "refused" : "other";
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error;
    // An answer of a proxy that puts the request off says nothing about the service.
    if (isPutOff(error)) throw error;
    // Losers of a race get 500 on some services.
    if (error.failure === "unknown" || error.status === 501 || error.status === 405) return "other";
    throw error;
  }
}

/** Stores an object without a condition. @returns the entity tag, without quotes */
export async function store(
  connection: S3Connection,
  key: string,
  body: Uint8Array = new TextEncoder().encode("ledge"),
): Promise<string> {
  const result = await connection.send({ method: "PUT", key, body, isRepeatable: true });
  await readText(result);
  const etag = etagOf(result.headers);
  if (result.status === 200 && etag !== "") return etag;
  const { place } = connection;
  throw new RemoteError(
    "refused",
    `${nameOf(place)} does not store objects in the bucket "${place.bucketName}": a put has status ` +
      `${result.status}${result.error === null ? " and no entity tag" : `, ${result.error.code}`}. ` +
      "Allow the access key to write there.",
    { status: result.status },
  );
}

async function read(connection: S3Connection, key: string): Promise<string | null> {
  const answer = await connection.send({ method: "GET", key });
  const text = await readText(answer);
  return answer.status === 200 ? text : null;
}

/** The request that completes a new upload with one part, if there is no object. */
export async function openCompletion(
  connection: S3Connection,
  key: string,
  body: Uint8Array,
): Promise<S3Request> {
  const created = await connection.send({ method: "POST", key, query: [["uploads", ""]] });
  const document = parseDocument(await readText(created));
  const uploadId = document === null ? "" : (childText(document, "UploadId") ?? "");
  const upload = ["uploadId", uploadId] as const;
  const query = [["partNumber", "1"], upload] as const;
  const part = await connection.send({ method: "PUT", key, query, body, isRepeatable: true });
  await readText(part);
  const parts = [{ PartNumber: 1, ETag: part.headers.get("etag") ?? "" }];
  return {
    method: "POST",
    key,
    query: [upload],
    headers: { "if-none-match": "*", "content-type": "application/xml" },
    body: new TextEncoder().encode(writeXml("CompleteMultipartUpload", { Part: parts })),
  };
}
