/** Sequences of operations: the arbitrary of the property test and the differential test. */
import * as fc from "fast-check";

import { readings, type Call, type Encoded, type Operation, type Step } from "../operation.ts";
import { badInput, emptyKey } from "./bad-input.ts";
import { delimiter, key, keys, textAroundNul, prefix } from "./keys.ts";
import { oddInput } from "./odd-input.ts";
import {
  content,
  customMetadata,
  digestOf,
  httpMetadata,
  onlyIf,
  range,
  storageClass,
} from "./values.ts";

export interface SequenceOptions {
  /** The approximate number of operations. A whole upload counts as one. */
  readonly lengthMax: number;
  /** The average number of operations between restarts of the runtime; no restarts if absent. */
  readonly restartEvery?: number;
  /** Omit operations after which the buckets of Ledge and of Miniflare's R2 differ. */
  readonly comparable: boolean;
}

const bigPartSizeBytes = 5 * 1024 * 1024;
const slot = fc.nat({ max: 1 });
const metadata = { httpMetadata, customMetadata, storageClass };

const put: fc.Arbitrary<Call> = fc
  .tuple(key, content)
  .chain(([name, value]) =>
    fc
      .oneof(
        { weight: 6, arbitrary: fc.record(metadata, { requiredKeys: [] }) },
        { weight: 3, arbitrary: fc.record({ onlyIf: onlyIf(name) }) },
        { weight: 2, arbitrary: digestOf(value).map((digest) => ({ [digest.algorithm]: digest })) },
      )
      .map((options) => ({ method: "put", args: [name, value, options] })),
  );

const putNothing: fc.Arbitrary<Call> = fc
  .tuple(key, fc.constantFrom<Encoded>(null, { $: "undefined" }))
  .map(([name, nothing]) => ({ method: "put", args: [name, nothing] }));

const get: fc.Arbitrary<Call> = fc
  .tuple(key, fc.constantFrom(...readings))
  .chain(([name, read]) =>
    fc
      .oneof(
        fc.constant({}),
        fc.record({ range }),
        fc.record({ onlyIf: onlyIf(name) }),
        fc.record({ onlyIf: onlyIf(name), range }),
      )
      .map((options): Call => ({ method: "get", args: [name, options], read })),
  );

/** R2 has no `httpMetadata` on reads. */
const getWithMetadata: fc.Arbitrary<Call> = fc
  .tuple(key, httpMetadata)
  .map(([name, given]) => ({ method: "get", args: [name, { httpMetadata: given }], read: "blob" }));

const head: fc.Arbitrary<Call> = key.map((name) => ({ method: "head", args: [name] }));

const remove: fc.Arbitrary<Call> = fc
  .oneof(
    { weight: 20, arbitrary: key },
    { weight: 10, arbitrary: fc.array(key, { minLength: 1, maxLength: 4 }) },
    { weight: 1, arbitrary: fc.constant([...keys]) },
  )
  .map((names) => ({ method: "delete", args: [names] }));

function list(texts: { prefix: fc.Arbitrary<string>; delimiter: fc.Arbitrary<string> }) {
  const options = {
    ...texts,
    limit: fc.constantFrom(1, 2, 3, 5, 1000),
    include: fc.subarray(["httpMetadata", "customMetadata"]),
  };
  const startAfter = fc.oneof(key, fc.constant(""));
  return fc
    .tuple(
      fc.oneof(
        { weight: 4, arbitrary: fc.record(options, { requiredKeys: [] }) },
        { weight: 2, arbitrary: fc.record(options, { requiredKeys: ["delimiter", "limit"] }) },
        {
          weight: 1,
          arbitrary: fc.record({ ...options, startAfter }, { requiredKeys: ["startAfter"] }),
        },
      ),
      fc.boolean(),
    )
    .map(([chosen, follow]): Call => ({ method: "list", args: [chosen], follow }));
}

/** Two pages of a list, with writes between them. */
function interrupted(options: fc.Arbitrary<Record<string, Encoded>>): fc.Arbitrary<Operation[]> {
  return fc
    .tuple(options, fc.array(fc.oneof(put, remove), { maxLength: 2 }))
    .map(([chosen, between]) => {
      const cursor: Encoded = { $: "cursor", slot: 0 };
      const first: Operation = { method: "list", args: [chosen], slot: 0 };
      const rest: Operation = { method: "list", args: [{ ...chosen, cursor }], follow: true };
      return [first].concat(between, rest);
    });
}

const pageOfKeys = fc.record({ limit: fc.constantFrom(1, 2, 3) });
/** Not for the comparison: R2 repeats a prefix when a key is added to it after the page. */
const pageOfPrefixes = fc.record({ limit: fc.constantFrom(1, 2, 3), delimiter });

const create: fc.Arbitrary<Call> = fc
  .tuple(key, fc.record(metadata, { requiredKeys: [] }), slot)
  .map(([name, options, into]) => ({
    method: "createMultipartUpload",
    args: [name, options],
    slot: into,
  }));

const partNumber = fc.constantFrom(1, 2, 10_000);

const uploadPart: fc.Arbitrary<Call> = fc
  .tuple(slot, partNumber, content, fc.boolean())
  .map(([into, number, value, resume]) => ({
    method: "uploadPart",
    args: [number, value],
    slot: into,
    resume,
  }));

const complete: fc.Arbitrary<Call> = slot.chain((into) =>
  fc
    .uniqueArray(
      fc.record({
        $: fc.constant("part" as const),
        slot: fc.constant(into),
        partNumber,
        age: fc.constantFrom(0, 0, 0, 1),
      }),
      { selector: (part) => part.partNumber, minLength: 1, maxLength: 2 },
    )
    .map((parts): Call => ({ method: "complete", args: [parts], slot: into })),
);

const abort: fc.Arbitrary<Call> = fc
  .tuple(slot, fc.boolean())
  .map(([into, resume]) => ({ method: "abort", args: [], slot: into, resume }));

/** A part for an upload that is resumed under a wrong key. */
const misplaced: fc.Arbitrary<Call> = fc.tuple(slot, content).map(([into, value]) => ({
  method: "uploadPart",
  args: [1, value],
  slot: into,
  underKey: "some other key",
}));

/** A whole upload of one part. */
const smallUpload: fc.Arbitrary<Operation[]> = fc
  .tuple(create, partNumber, content)
  .map(([begin, number, value]) => uploadOf(begin, { parts: [[number, value]] }));

/** A part is uploaded twice: only the second etag is valid. */
const replacedPart: fc.Arbitrary<Operation[]> = fc
  .tuple(create, partNumber, content, content, fc.constantFrom(0, 1))
  .map(([begin, number, value, other, age]) =>
    uploadOf(begin, { parts: [[number, value]], replaced: [[number, other]], age }),
  );

/** Parts of equal and of different sizes, in any order. Some of these uploads are invalid. */
const bigUpload: fc.Arbitrary<Operation[]> = fc
  .tuple(
    create,
    fc.constantFrom([0, -1], [0, 0], [0, 1], [-1, 0], [0, -bigPartSizeBytes]),
    fc.constantFrom(2, 10_000),
    fc.boolean(),
  )
  .map(([begin, [first = 0, second = 0], lastNumber, backwards]) => {
    const parts = [
      [1, bigContent(first)],
      [lastNumber, bigContent(second)],
    ] as const;
    return uploadOf(begin, { parts, backwards });
  });

function bigContent(excessBytes: number): Encoded {
  const sizeBytes = bigPartSizeBytes + excessBytes;
  return { $: "content", kind: "Uint8Array", sizeBytes, seed: 1 };
}

type NumberedContent = readonly [partNumber: number, content: Encoded];

function uploadOf(
  begin: Call,
  upload: {
    parts: readonly NumberedContent[];
    replaced?: readonly NumberedContent[];
    age?: number;
    backwards?: boolean;
  },
): Operation[] {
  const { parts, replaced = [], age = 0, backwards = false } = upload;
  const { slot: into = 0 } = begin;
  const marks = parts.map(([number]): Encoded => ({
    $: "part",
    slot: into,
    partNumber: number,
    age,
  }));
  return [
    begin,
    ...[...replaced, ...parts].map(([number, value]): Call => {
      return { method: "uploadPart", args: [number, value], slot: into };
    }),
    { method: "complete", args: [backwards ? marks.toReversed() : marks], slot: into },
    { method: "get", args: [begin.args[0] ?? null], read: "arrayBuffer" },
  ];
}

/** Calls on different keys in one turn: the binding sends them to the bucket as one batch. */
const together: fc.Arbitrary<Operation> = fc
  .array(fc.oneof(put, get, head, remove, uploadPart), { minLength: 2, maxLength: 6 })
  .map((calls) => ({ together: withoutSharedKeys(calls) }));

function withoutSharedKeys(calls: readonly Call[]): Call[] {
  const taken = new Set<string>();
  return calls.filter(({ method, args, slot: into }) => {
    const names = method === "uploadPart" ? [`upload ${into}`] : [args[0]].flat().map(nameOf);
    // A condition may contain the etag of another key.
    const mentioned = [...JSON.stringify(args).matchAll(/"key":("(?:[^"\\]|\\.)*")/g)].map(
      ([, text = '""']) => nameOf(JSON.parse(text) as string),
    );
    const all = [...names, ...mentioned];
    if (all.some((name) => taken.has(name))) return false;
    for (const name of all) taken.add(name);
    return true;
  });
}

function nameOf(name: unknown): string {
  return `key ${String(name).toWellFormed()}`;
}

function one(operation: fc.Arbitrary<Operation>): fc.Arbitrary<Step[]> {
  return operation.map((step) => [step]);
}

export function sequence(options: SequenceOptions): fc.Arbitrary<Step[]> {
  const { lengthMax, restartEvery, comparable } = options;
  const steps = fc.oneof(
    { weight: 240, arbitrary: one(put) },
    { weight: 15, arbitrary: one(putNothing) },
    { weight: 160, arbitrary: one(get) },
    { weight: 50, arbitrary: one(head) },
    { weight: 40, arbitrary: one(remove) },
    { weight: 120, arbitrary: one(list({ prefix, delimiter })) },
    { weight: 20, arbitrary: interrupted(pageOfKeys) },
    { weight: 50, arbitrary: one(create) },
    { weight: 60, arbitrary: one(uploadPart) },
    { weight: 40, arbitrary: one(complete) },
    { weight: 15, arbitrary: one(abort) },
    { weight: 40, arbitrary: smallUpload },
    { weight: 20, arbitrary: replacedPart },
    { weight: 5, arbitrary: bigUpload },
    { weight: 60, arbitrary: one(together) },
    { weight: 90, arbitrary: one(badInput) },
    { weight: 30, arbitrary: one(oddInput) },
    { weight: 10, arbitrary: one(misplaced) },
    { weight: 10, arbitrary: one(getWithMetadata) },
    { weight: comparable ? 0 : 20, arbitrary: interrupted(pageOfPrefixes) },
    { weight: comparable ? 0 : 10, arbitrary: one(emptyKey) },
    { weight: comparable ? 0 : 20, arbitrary: one(list({ prefix: textAroundNul, delimiter })) },
    { weight: comparable ? 0 : 20, arbitrary: one(list({ prefix, delimiter: textAroundNul })) },
    {
      weight: restartEvery === undefined ? 0 : Math.ceil(1000 / restartEvery),
      arbitrary: fc.constant<Step[]>([{ restart: true }]),
    },
  );
  // Most operations need a bucket with objects, so a sequence begins with puts.
  const beginning = fc.array(one(fc.oneof(put, put, put, create)), { maxLength: 12, size: "max" });
  return fc
    .tuple(beginning, fc.array(steps, { minLength: 1, maxLength: lengthMax, size: "max" }))
    .map((nested) => nested.flat(2))
    .map((flat) => (comparable ? withoutLoneSurrogates(flat) : flat));
}

/** R2 replaces each of the three bytes of a lone surrogate, and so uses another key. */
function withoutLoneSurrogates(steps: Step[]): Step[] {
  return JSON.parse(JSON.stringify(steps).replaceAll("\\ud800", "\\ufffd")) as Step[];
}

/** For services that refuse NUL in keys. */
export function withoutNul<Steps extends readonly Step[]>(steps: Steps): Steps {
  return JSON.parse(JSON.stringify(steps).replaceAll("\\u0000", "\\u0001")) as Steps;
}
