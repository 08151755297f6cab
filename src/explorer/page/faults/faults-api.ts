/** Reads and replaces the faults, with the routes of the server of today. */
import type { ConditionsState } from "../../api/conditions.ts";
import { callApi } from "../api-client.ts";

/** What is wanted. */
export interface Faults {
  /** In the words of `--fault`: `put:photos/*:10001`, `dns:servfail:www.example.com/A`. */
  readonly faults: readonly string[];
  /** Added to each call of a bucket. */
  readonly latencyMilliseconds: number;
  /** How far the store's clock is ahead of the machine's. */
  readonly clockOffsetMilliseconds: number;
}

/** What is in force. */
export interface FaultsState extends Omit<Faults, "faults"> {
  /** With how many calls or queries each has hit. */
  readonly faults: readonly { readonly text: string; readonly hits: number }[];
  /** The store's time: milliseconds since the epoch. */
  readonly storeTime: number;
  /** Why some faults are not in force, or `null`. */
  readonly problem: string | null;
  readonly presets: readonly { readonly label: string; readonly text: string }[];
}

const writes = "put,delete,createMultipartUpload,uploadPart,completeMultipartUpload";
const presets = [
  { label: "All writes fail", text: `${writes}:*:10001` },
  { label: "Reads drop half-way", text: "get:*:drop" },
  { label: "Writes are stored, their answers are lost", text: "put:*:drop:when=after" },
  { label: "Half of the writes are too many requests", text: "put:*:10058:probability=0.5" },
  { label: "The name server answers SERVFAIL", text: "dns:servfail:*" },
  { label: "The name server does not answer", text: "dns:drop:*" },
];

export async function readFaults(signal?: AbortSignal): Promise<FaultsState> {
  const state = await callApi<ConditionsState>("/api/conditions", signal ? { signal } : {});
  const texts = [...state.bucketFaults, ...state.dnsFaults].map(({ text }) => text);
  return {
    ...state,
    faults: texts.map((text) => ({ text, hits: state.hits[text] ?? 0 })),
    presets,
  };
}

export async function replaceFaults({ faults, ...others }: Faults): Promise<void> {
  const of = (isDns: boolean): readonly { readonly text: string }[] =>
    faults.filter((text) => text.startsWith("dns:") === isDns).map((text) => ({ text }));
  const json = { ...others, bucketFaults: of(false), dnsFaults: of(true) };
  await callApi("/api/conditions", { method: "PUT", json });
}
