/**
 * Makes the outcomes of different implementations comparable: a name replaces each value that an
 * implementation chooses freely. The name is the place in the sequence where the value came first.
 *
 * A version that is not new, a version that `put` did not return, and an upload time that changes
 * are therefore still differences.
 */
import type { Call, Json, Operation, Outcome } from "./operation.ts";

/** A call with its outcome, and its place in the sequence (`4`, or `4.1` within `together`). */
export interface Observation {
  readonly place: string;
  readonly call: Call;
  readonly outcome: Outcome;
}

export interface NormaliseOptions {
  /** R2 generates random etags for parts; Ledge computes them from the content. */
  readonly partEtags: "exact" | "named";
}

export function normalise(
  operations: readonly Operation[],
  outcomes: readonly Outcome[][],
  { partEtags }: NormaliseOptions,
): Observation[] {
  const names = new Names();
  return operations.flatMap((operation, index) => {
    const calls = "together" in operation ? operation.together : [operation];
    return calls.map((call, turn) => {
      const place = calls.length === 1 ? `${index}` : `${index}.${turn}`;
      const outcome = outcomes[index]?.[turn];
      if (outcome === undefined) throw new Error(`Operation ${place} has no outcome`);
      if ("error" in outcome)
        return { place, call, outcome: { error: withStoreNames(outcome.error) } };
      const value = names.replace(outcome.value, place);
      const part = call.method === "uploadPart" && partEtags === "named";
      return { place, call, outcome: { value: part ? withoutEtag(value) : value } };
    });
  });
}

/** The platform's error texts contain the names of R2's classes. */
function withStoreNames({ name, message }: { name: string; message: string }): {
  name: string;
  message: string;
} {
  return { name, message: message.replace(/'R2(Bucket|MultipartUpload)'/, "'Store$1'") };
}

function withoutEtag(value: Json): Json {
  return { ...(value as { partNumber: number; etag: string }), etag: "named" };
}

class Names {
  readonly #versions = new Map<string, { name: string; uploaded: number }>();
  readonly #uploads = new Map<string, string>();

  replace(value: Json, place: string): Json {
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map((element) => this.replace(element, place));
    const { version, uploaded, uploadId } = value;
    const replaced = Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, this.replace(inner, place)]),
    );
    if (typeof version === "string" && typeof uploaded === "number") {
      const first = this.#versions.get(version) ?? { name: `version of ${place}`, uploaded };
      this.#versions.set(version, first);
      const change = uploaded === first.uploaded ? "" : `, moved by ${uploaded - first.uploaded}`;
      return { ...replaced, version: first.name, uploaded: `time of ${first.name}${change}` };
    }
    if (typeof uploadId === "string") {
      const name = this.#uploads.get(uploadId) ?? `upload of ${place}`;
      this.#uploads.set(uploadId, name);
      return { ...replaced, uploadId: name };
    }
    return replaced;
  }
}
