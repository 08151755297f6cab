/** What people read when a request to an S3 service fails: what happened, why, and what to do. */
import { reasonOf, saidBy, type ErrorDocument } from "./s3-answer.ts";
import { remoteVariables, type RemotePlace } from "./remote-options.ts";
import type { TransportFailure } from "./s3-transport.ts";

export interface Refusal {
  /** What the service was asked, for a request that it does not support: `PUT with if-none-match`. */
  readonly asked: string;
  readonly status: number;
  readonly headers: Headers;
  readonly document: ErrorDocument | null;
  /** Whether the answer has a body that is no document of S3. */
  readonly isForeign: boolean;
  /** Milliseconds since the epoch, by the clock of this machine. */
  readonly now: number;
}

const failures: Readonly<Record<TransportFailure, readonly [state: string, advice: string]>> = {
  name: [
    "has a host name that cannot be resolved",
    "Check the host name in `endpoint`, and the network.",
  ],
  connect: ["cannot be reached", "Check `endpoint`, and that the service is running."],
  certificate: [
    "has a certificate that is not trusted",
    "Use a certificate that this machine trusts, or add the certificate authority to this machine " +
      "(for Node: NODE_EXTRA_CA_CERTS).",
  ],
  lost: ["gave no answer", "Check the service and the network."],
};

/** What a request asks for, as far as services differ: `PUT with if-none-match`. */
export function askedOf({
  method,
  query = [],
  headers = {},
}: {
  readonly method: string;
  readonly query?: readonly (readonly [name: string, value: string])[];
  readonly headers?: Readonly<Record<string, string>>;
}): string {
  const names = [...query.map(([name]) => name), ...Object.keys(headers)];
  const special = names.filter((name) => /^(?:if-|uploads$|delete$|x-amz-(?!meta-))/.test(name));
  return special.length === 0 ? method : `${method} with ${special.join(", ")}`;
}

/** `The remote "cluster" (https://s3.example.net)` */
export function nameOf({ remote, endpoint }: RemotePlace): string {
  return `The remote "${remote}" (${endpoint})`;
}

export function missingKeysSentence(place: RemotePlace): string {
  const variables = remoteVariables(place.remote);
  return (
    `${nameOf(place)} has no keys. ` +
    `Set ${variables.accessKeyId} and ${variables.secretAccessKey} in .dev.vars or in the environment.`
  );
}

export function transportSentence(
  place: RemotePlace,
  failure: TransportFailure,
  reason: string,
): string {
  const [state, advice] = failures[failure];
  return `${nameOf(place)} ${state}: ${reason}. ${advice}`;
}

/** @param queuedMilliseconds of them, before the request was sent */
export function silenceSentence(
  place: RemotePlace,
  milliseconds: number,
  queuedMilliseconds = 0,
): string {
  const queued =
    queuedMilliseconds < 1000
      ? ""
      : `, ${secondsText(queuedMilliseconds)} of which the request has waited for a free connection`;
  return `${nameOf(place)} did not answer within ${secondsText(milliseconds)}${queued}. ${failures.lost[1]}`;
}

export function stallSentence(place: RemotePlace, sent: number, milliseconds: number): string {
  return (
    `${nameOf(place)} has taken ${sent} bytes of the content, and hardly more for ` +
    `${secondsText(milliseconds)}. ${failures.lost[1]}`
  );
}

export function queueSentence(place: RemotePlace, max: number, milliseconds: number): string {
  return (
    `A request to ${nameOf(place).replace("The", "the")} has waited for ${secondsText(milliseconds)}, ` +
    `while ${max} others were under way, and was not sent. Send fewer requests at a time, or raise ` +
    `connections of [remotes.${place.remote}].`
  );
}

export function spentSentence(place: RemotePlace, milliseconds: number): string {
  return (
    `The requests of a call to ${nameOf(place).replace("The", "the")} have taken ${secondsText(milliseconds)}, ` +
    `which is call_timeout of [remotes.${place.remote}]. ${failures.lost[1]}`
  );
}

/** For answers that say that the service cannot work now: 429, 500, 503 and others. */
export function failureSentence(place: RemotePlace, { status, document }: Refusal): string {
  const said = document === null ? "" : `: ${saidBy(document)}`;
  const name = nameOf(place);
  return reasonOf(status, document?.code) === "throttled"
    ? `${name} asks for fewer requests, with status ${status}${said}.`
    : `${name} failed with status ${status}${said}. Try again later, or look at the service's log.`;
}

/** Behind the sentence of a service that asks for fewer requests. */
export function throttledSentence(
  attempts: number,
  waitedMilliseconds: number,
  askedMilliseconds: number | null,
): string {
  const sent = `It was asked ${attempts === 1 ? "once" : `${attempts} times`} in ${secondsText(waitedMilliseconds)}`;
  return askedMilliseconds === null
    ? `${sent}. Send fewer requests, and try again later.`
    : `${sent}, and wants a pause of ${secondsText(askedMilliseconds)}. Try again after that.`;
}

function secondsText(milliseconds: number): string {
  return `${Number((milliseconds / 1000).toPrecision(milliseconds < 100_000 ? 2 : 6))} s`;
}

export function refusalSentence(place: RemotePlace, refusal: Refusal): string {
  const { status, headers, document, isForeign } = refusal;
  const name = nameOf(place);
  const table = `[remotes.${place.remote}]`;
  const code = document?.code;
  if (code === "RequestTimeTooSkewed") return skewSentence(place, refusal);
  if (code === "InvalidAccessKeyId" || (status === 401 && !isForeign)) {
    return `${name} does not know the access key id. Correct access_key_id of ${table}.`;
  }
  if (code === "SignatureDoesNotMatch") {
    return (
      `${name} refused the signature: the secret access key does not belong to the access key id. ` +
      `Correct secret_access_key of ${table}.`
    );
  }
  if (code === "ExpiredToken" || code === "TokenRefreshRequired") {
    return `${name} refused the session token, which has expired (${code}). Get new credentials for ${table}.`;
  }
  if (code === "InvalidToken") {
    return `${name} refused the session token (${code}). Get new credentials for ${table}.`;
  }
  if (reasonOf(status, code) === "space") {
    const said = document === null ? `status ${status}` : saidBy(document);
    return (
      `${name} has no space left for the bucket "${place.bucketName}" (${said}). ` +
      "Delete objects, raise the quota, or add storage to the service."
    );
  }
  if (code === "NoSuchBucket") {
    return `${name} has no bucket "${place.bucketName}". Create the bucket there, or correct bucket_name.`;
  }
  const region = document?.textOf("Region") ?? headers.get("x-amz-bucket-region");
  const isElsewhere = status >= 300 && status < 400;
  if (isElsewhere || code === "AuthorizationHeaderMalformed" || code === "InvalidRegionName") {
    return elsewhereSentence(place, region, refusal);
  }
  if (isForeign) {
    return `${name} is no S3 service: the answer has status ${status} and is no document of S3. Correct endpoint of ${table}.`;
  }
  if (status === 403) {
    const said = document === null ? "" : ` (${saidBy(document)})`;
    return (
      `${name} denied access to the bucket "${place.bucketName}"${said}. ` +
      `Allow the access key of ${table} to read, write, delete and list there.`
    );
  }
  const said = document === null ? `status ${status}` : `status ${status}, ${saidBy(document)}`;
  if (reasonOf(status, code) === "unsupported") {
    return (
      `${name} does not support ${refusal.asked}: ${said}. ` +
      "Use a service that has it, or leave it out of the call."
    );
  }
  return `${name} refused a request: ${said}.`;
}

function elsewhereSentence(
  place: RemotePlace,
  region: string | null,
  { status, headers, document }: Refusal,
): string {
  const name = nameOf(place);
  const table = `[remotes.${place.remote}]`;
  if (region !== null && region !== "" && region !== place.region) {
    return (
      `${name} has the bucket "${place.bucketName}" in the region "${region}", and the ` +
      `configuration says "${place.region}". Write region = "${region}" in ${table}.`
    );
  }
  const endpoint = document?.textOf("Endpoint") ?? headers.get("location");
  if (endpoint !== null) {
    return `${name} sends requests for the bucket "${place.bucketName}" to ${endpoint}. Correct endpoint of ${table}.`;
  }
  const said = document === null ? `status ${status}` : saidBy(document);
  return `${name} refused the region "${place.region}" (${said}). Correct region of ${table}.`;
}

function skewSentence(place: RemotePlace, { headers, document, now }: Refusal): string {
  const time = Date.parse(document?.textOf("ServerTime") ?? headers.get("date") ?? "");
  const name = nameOf(place);
  const here = new Date(now).toISOString();
  if (Number.isNaN(time)) {
    return `${name} refused the time of this machine, ${here}. Set the clock of this machine.`;
  }
  const seconds = Math.round(Math.abs(time - now) / 1000);
  return (
    `${name} refused the time of this machine: it is ${here} here and ` +
    `${new Date(time).toISOString()} there, a difference of ${durationText(seconds)}. ` +
    "Set the clock that is wrong."
  );
}

/** In the two largest units: `1 h 5 min` */
function durationText(seconds: number): string {
  const units: [number, string][] = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ];
  const first = units.findIndex(([count]) => count > 0);
  if (first === -1) return "0 s";
  return units
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ");
}
