/** A call of a bucket or of another binding, as `calls` of `ledge/test` has them. */
import type { Call } from "../store/core/fault.ts";
import { describePlannedCall, type BindingCall } from "./binding-call.ts";

/** Without these, no field of one kind of call could be read before its kind is known. */
type Absent<Other, Own> = { readonly [Field in Exclude<keyof Other, keyof Own>]?: never };

export type AnyCall =
  | (Call & Absent<BindingCall, Call>)
  | (BindingCall & Absent<Call, BindingCall>);

/** A line for a message: `put a.png in photos: ok, 5 bytes` */
export function showCall(call: AnyCall): string {
  if (call.bucket !== undefined) {
    const { bucket, method, keys, bytes, outcome, code } = call;
    const result = outcome === "error" ? `error ${code}` : outcome;
    return `${method} ${keys.join(", ")} in ${bucket}: ${result}, ${bytes} bytes`;
  }
  const { outcome, error, milliseconds } = call;
  const result = outcome === "error" ? error : outcome;
  return `${describePlannedCall(call)}: ${result}, ${Math.round(milliseconds)} ms`;
}
