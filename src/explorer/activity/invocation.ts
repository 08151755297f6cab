/**
 * An invocation of the script, as the tail worker of the dev server reports it
 * (`dev/plugin/tail-plugins.ts`): the events of workerd's streaming tail, shortened.
 *
 * The report is one line on the console of the runtime: a mark, and JSON.
 */

/** No line of a script begins with it by chance. */
export const activityMark = "\u0001ledge:activity ";

export interface Invocation {
  readonly id: string;
  /** The first event is the onset. */
  readonly events: readonly TraceEvent[];
  /** Events that the tail worker has not kept. */
  readonly dropped: number;
  /** When the tail worker has reported, in milliseconds since the epoch. */
  readonly reportedAt: number;
  /** Without the outcome: the report of an invocation that still runs. */
  readonly isRunning: boolean;
}

interface TraceEvent {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The span that the event belongs to; of `spanOpen`, the parent. */
  readonly span: string | undefined;
  readonly event: TraceEventBody;
}

export type TraceEventBody =
  | {
      readonly type: "onset";
      readonly spanId: string;
      readonly entrypoint?: string;
      readonly info: OnsetInfo;
    }
  | { readonly type: "spanOpen"; readonly name: string; readonly spanId: string }
  | { readonly type: "spanClose"; readonly outcome: string }
  | { readonly type: "attributes"; readonly info: readonly { name: string; value: unknown }[] }
  | { readonly type: "log"; readonly level: string; readonly message: unknown }
  | {
      readonly type: "exception";
      readonly name: string;
      readonly message: string;
      readonly stack?: string;
    }
  | { readonly type: "return"; readonly info?: { readonly statusCode?: number } }
  | { readonly type: "outcome"; readonly outcome: string };

/** What has started the invocation. The fields depend on the type. */
interface OnsetInfo {
  readonly type: string;
  readonly method?: string;
  readonly url?: string;
  readonly cron?: string;
  readonly queueName?: string;
  readonly rcptTo?: string;
}

/** @returns `null` for a line of the script */
export function readInvocation(line: string): Invocation | null {
  if (!line.startsWith(activityMark)) return null;
  return JSON.parse(line.slice(activityMark.length)) as Invocation;
}
