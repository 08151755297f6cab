/** The errors of KV, D1, R2, caches and Durable Objects that a test injects, as the deployed service has them. */
import { connectionLost } from "../store/client/failure.ts";
import { failEffect } from "../store/core/fault.ts";
import type { PlannedCall } from "./binding-call.ts";

/** What a fault does to a call. */
export type BindingFaultEffect =
  | { readonly kind: "fail"; readonly message: string }
  | { readonly kind: "slow"; readonly milliseconds: number }
  | { readonly kind: "drop" };

/** The error of a call that a fault makes fail; `null` if the fault only makes it slow. */
export function errorOf({ kind }: PlannedCall, effect: BindingFaultEffect): Error | null {
  if (effect.kind === "slow") return null;
  if (effect.kind === "drop") return connectionLost();
  const { message } = effect;
  if (kind === "d1") {
    return new Error(message, { cause: new Error(message.slice(message.indexOf(" ") + 1)) });
  }
  return Object.assign(new Error(message), kind === "durable_objects" && { retryable: true });
}

/** @throws TypeError if the kind of binding has no such error */
export function errorMessage(
  { kind, binding, method, keys }: PlannedCall,
  { code, text }: { readonly code?: number | undefined; readonly text?: string | undefined },
): string {
  if (kind === "kv") {
    const status = code ?? 500;
    return `KV ${kvVerb(method, keys)} failed: ${status} ${text ?? statusText(status)}`;
  }
  if (kind === "r2") {
    const failed = failEffect(code, text);
    return `${method}: ${failed.text} (${failed.code})`;
  }
  if (code !== undefined) {
    throw new TypeError(
      `Errors of ${binding} have no code: give a text. Errors of buckets, KV and R2 have codes.`,
    );
  }
  if (kind === "d1") {
    return `${method === "exec" ? "D1_EXEC_ERROR" : "D1_ERROR"}: ${text ?? resetText("D1 DB storage")}`;
  }
  return (
    text ?? (kind === "cache" ? "Network connection lost." : resetText("Durable Object storage"))
  );
}

function resetText(where: string): string {
  return `Internal error in ${where} caused object to be reset.`;
}

function kvVerb(method: string, keys: readonly string[]): string {
  if (method === "put" || method === "delete") return method.toUpperCase();
  return keys.length > 1 ? "GET_BULK" : "GET";
}

/** The usual errors of KV. */
const statusTexts: Readonly<Record<number, string>> = {
  400: "Bad Request",
  413: "Payload Too Large",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

function statusText(status: number): string {
  const text = statusTexts[status];
  if (text !== undefined) return text;
  const known = Object.keys(statusTexts).join(", ");
  throw new TypeError(`"code" is ${status}: give a text too, or one of the codes ${known}.`);
}
