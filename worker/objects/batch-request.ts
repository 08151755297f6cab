import type { RecordRequest } from "../../src/dns/rules/accept-record.ts";

/** The operations of a batch. */
export type BatchRequest = Readonly<
  Record<"deletes" | "patches" | "puts" | "posts", readonly RecordRequest[]>
>;

/** The API has checked that the request has an id. */
export function idOf({ id }: RecordRequest): string {
  return id as string;
}
