/**
 * Faults that a test injects into calls of bindings other than buckets.
 *
 * The script's isolate decides and applies them (`binding-calls.ts`), because Miniflare serves these
 * bindings. The store applies the faults of buckets (`store/core/fault.ts`). The errors are those of
 * the deployed service.
 */
import { toMilliseconds, type Duration } from "../base/format.ts";
import {
  FaultSchedule,
  timingFields,
  toScheduleOptions,
  type FaultTiming,
  matchesPattern,
  toPlainPattern,
  type TextPattern,
} from "../base/fault-schedule.ts";
import { nearest } from "../base/nearest.ts";
import { connectionLost } from "../store/client/failure.ts";
import { checkFields, failEffect, showFault, type UnusedFault } from "../store/core/fault.ts";
import {
  bindingMethods,
  describePlannedCall,
  planCall,
  type BindingKind,
  type PlannedCall,
} from "./binding-call.ts";

/** Which calls of bindings a fault hits: the calls that match every given field. */
export interface BindingFaultTarget extends FaultTiming {
  /** The name in `env`; `"caches"` for all caches, `"fetch"` for the global function */
  binding?: string;
  /** In place of `binding`, or with it: the calls of D1 with a statement that matches */
  sql?: TextPattern;
  /**
   * The key; the prefix of a `list`; the URL in a cache, of `fetch()` and of a service; the name or the id of a
   * Durable Object
   */
  key?: TextPattern;
  /** For a Durable Object and a service, `"fetch"` or the name of an RPC method; for `fetch()`, `"GET"`, … */
  method?: string | string[];
  /** `"after"`: the call is executed, and only its answer fails or is late. Default: `"before"`. */
  when?: "before" | "after";
}

export type BindingFaultOptions =
  | { readonly kind: "fail"; readonly code?: number; readonly text?: string }
  | { readonly kind: "slow"; readonly by: Duration }
  | { readonly kind: "drop" };

export type BindingFaultEffect =
  /** With a status, the call gets a response with that status and with the message as its body. */
  | { readonly kind: "fail"; readonly message: string; readonly status?: number }
  | { readonly kind: "slow"; readonly milliseconds: number }
  | { readonly kind: "drop" };

export interface InjectedBindingFault extends Pick<
  PlannedCall,
  "binding" | "method" | "key" | "sql"
> {
  /** The number of the call among the calls that the fault matches, from 1 */
  readonly nth: number;
  readonly when: "before" | "after";
  readonly effect: BindingFaultEffect;
}

const targetFields = [
  "binding",
  "sql",
  "key",
  "method",
  ...timingFields,
  "when",
] as const satisfies (keyof BindingFaultTarget)[];

const effectFields = { fail: ["code", "text"], slow: ["by"], drop: [] };

export type BindingKinds = ReadonlyMap<string, BindingKind>;

/** A fault in force, with its count of matching calls. */
export interface ArmedBindingFault {
  readonly kind: BindingFaultEffect["kind"];
  /** Counts the call if the fault matches it. `null` if the fault does not hit the call. */
  hit(call: PlannedCall): InjectedBindingFault | null;
  /** `null` if the fault has hit a call. */
  readonly unused: UnusedFault | null;
}

/** @throws TypeError that names the wrong field */
export function makeBindingFault(
  target: BindingFaultTarget,
  options: BindingFaultOptions,
  kinds: BindingKinds,
): ArmedBindingFault {
  checkFields(target, options.kind, [...targetFields, ...effectFields[options.kind]]);
  const { when = "before" } = target;
  const code = options.kind === "fail" ? options.code : undefined;
  const bindings = findBindings(target, kinds);
  const methods = target.method === undefined ? null : [target.method].flat();
  for (const binding of bindings) {
    const kind = kinds.get(binding) as BindingKind;
    checkMethods(binding, kind, methods ?? []);
    effectOn(planCall({ kind, binding }, methods?.[0] ?? "fetch", []), options);
  }
  const schedule = new FaultSchedule(toScheduleOptions(target));
  let matches = 0;
  let hasHit = false;
  return {
    kind: options.kind,
    hit(call) {
      const { binding, method, key, keys, sql, statements = [] } = call;
      const isMatch =
        bindings.includes(binding) &&
        methods?.includes(method) !== false &&
        (code === undefined || canHaveStatus(call) || call.kind !== "service") &&
        matchesAny(target.key, keys) &&
        matchesAny(target.sql, statements);
      if (!isMatch) return null;
      matches++;
      const nth = schedule.countCall();
      if (nth === null) return null;
      hasHit = true;
      return { binding, method, key, sql, nth, when, effect: effectOn(call, options) };
    },
    get unused() {
      return hasHit ? null : { text: showFault(options.kind, target), matches };
    },
  };
}

function findBindings(
  { binding, sql }: BindingFaultTarget,
  kinds: BindingKinds,
): readonly string[] {
  const names = [...kinds.keys()].filter((each) => sql === undefined || kinds.get(each) === "d1");
  if (binding === undefined) {
    if (names.length > 0) return names;
    throw new TypeError('The script has no D1 database, so a fault with "sql" would hit no call.');
  }
  if (names.includes(binding)) return [binding];
  const what = sql === undefined ? "binding whose calls can fail" : "D1 database";
  const guess = nearest(binding, names);
  throw new TypeError(
    `The script has no ${what} "${binding}", so the fault would hit no call. ` +
      (guess === null ? "" : `Did you mean "${guess}"? `) +
      `Bindings: ${names.join(", ") || "none"}.`,
  );
}

function checkMethods(binding: string, kind: BindingKind, methods: readonly string[]): void {
  const known = bindingMethods[kind];
  const unknown = methods.find((method) => known?.includes(method) === false);
  if (unknown === undefined || known === null) return;
  throw new TypeError(`"${unknown}" is no method of ${binding}. Use ${known.join(", ")}.`);
}

function matchesAny(pattern: TextPattern | undefined, texts: readonly string[]): boolean {
  if (pattern === undefined) return true;
  const plain = toPlainPattern(pattern);
  return texts.some((text) => matchesPattern(plain, text));
}

function effectOn(call: PlannedCall, options: BindingFaultOptions): BindingFaultEffect {
  switch (options.kind) {
    case "fail":
      if (options.code !== undefined && canHaveStatus(call)) {
        const { code, text } = options;
        return {
          kind: "fail",
          message: text ?? statusTexts[code] ?? "",
          status: checkStatus(code),
        };
      }
      return { kind: "fail", message: errorMessage(call, options) };
    case "slow":
      return { kind: "slow", milliseconds: toMilliseconds(options.by) };
    case "drop":
      return { kind: "drop" };
  }
}

export function describeBindingFault(fault: InjectedBindingFault): string {
  const call = describePlannedCall(fault);
  return `${call} ${describeEffect(fault.effect)} (call ${fault.nth} that the fault matches)`;
}

function describeEffect(effect: BindingFaultEffect): string {
  switch (effect.kind) {
    case "fail":
      return effect.status === undefined
        ? `failed with "${effect.message}"`
        : `was answered with status ${effect.status}`;
    case "slow":
      return `took ${effect.milliseconds} ms longer`;
    case "drop":
      return "lost its connection";
  }
}

/** Whether a fault can answer a call with a status. */
function canHaveStatus({ kind, method }: PlannedCall): boolean {
  return kind === "fetch" || (kind === "service" && method === "fetch");
}

function checkStatus(status: number): number {
  if (Number.isInteger(status) && status >= 200 && status <= 599) return status;
  throw new TypeError(`"code" is ${status}: give a status of HTTP from 200 to 599.`);
}

/** @throws the error of a call that a fault makes fail */
export function failedCall({ kind }: PlannedCall, { effect }: InjectedBindingFault): Response {
  if (effect.kind !== "fail") throw connectionLost();
  const { message, status } = effect;
  if (status !== undefined) {
    const hasBody = ![204, 205, 304].includes(status);
    return new Response(hasBody ? message : null, {
      status,
      statusText: statusTexts[status] ?? "",
    });
  }
  if (kind === "d1") {
    throw new Error(message, { cause: new Error(message.slice(message.indexOf(" ") + 1)) });
  }
  throw Object.assign(new Error(message), kind === "durable_objects" && { retryable: true });
}

/** @throws TypeError if the kind of binding has no such error */
function errorMessage(
  { kind, binding, method, keys }: PlannedCall,
  { code, text }: Extract<BindingFaultOptions, { kind: "fail" }>,
): string {
  if (kind === "kv") {
    const status = code ?? 500;
    return `KV ${kvVerb(method, keys)} failed: ${status} ${text ?? statusText(status)}`;
  }
  if (kind === "r2") {
    const failed = failEffect(code, text);
    return `${method}: ${failed.text} (${failed.code})`;
  }
  if (kind === "queue") {
    return `Queue ${method} failed: ${text ?? statusText(code ?? 500)}`;
  }
  if (code !== undefined) {
    throw new TypeError(
      `Errors of ${binding} have no code: give a text. Errors of buckets, KV, R2 and queues have codes, and so ` +
        "have responses to fetch().",
    );
  }
  if (kind === "d1") {
    return `${method === "exec" ? "D1_EXEC_ERROR" : "D1_ERROR"}: ${text ?? resetText("D1 DB storage")}`;
  }
  if (text !== undefined) return text;
  return kind === "durable_objects"
    ? resetText("Durable Object storage")
    : "Network connection lost.";
}

function resetText(where: string): string {
  return `Internal error in ${where} caused object to be reset.`;
}

function kvVerb(method: string, keys: readonly string[]): string {
  if (method === "put" || method === "delete") return method.toUpperCase();
  return keys.length > 1 ? "GET_BULK" : "GET";
}

const statusTexts: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  413: "Payload Too Large",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

function statusText(status: number): string {
  const text = statusTexts[status];
  if (text !== undefined) return text;
  const known = Object.keys(statusTexts).join(", ");
  throw new TypeError(`"code" is ${status}: give a text too, or one of the codes ${known}.`);
}
