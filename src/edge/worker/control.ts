/**
 * How the dev server holds the requests of its edge worker, hears of what runs, and ends the Durable Objects of the
 * runtime, while it restores the state (`dev/dev-state.ts`).
 *
 * A request that is held asks the dev server, which answers when it releases requests: a promise of one request cannot
 * be settled by another.
 */
import unsafe from "workerd:unsafe";
import { edgeControls, gatePath, type EdgeState, type EdgeWork } from "../core/edge-state.ts";

export interface ControlEnv {
  readonly origins: Fetcher;
  /** The tail worker of the scripts (`dev/plugin/tail-plugins.ts`), if they have one. */
  readonly activity?: Fetcher;
  /** The store (`store/bucket/store-control.ts`), if a script has a bucket in it. */
  readonly store?: Fetcher & { abortBuckets(): Promise<void> };
}

/** The requests without a response yet. */
const running = new Set<EdgeWork["requests"][number]>();
let answeredAt = 0;

/** Waits while requests are held. */
export async function passGate({ origins }: ControlEnv, { isHeld }: EdgeState): Promise<void> {
  if (isHeld) await origins.fetch(`http://edge${gatePath}`);
}

/** Answers a request, which runs until its response or the end of its client. */
export async function follow(
  { method, url, signal }: Request,
  answer: () => Promise<Response>,
): Promise<Response> {
  const { pathname, search } = new URL(url);
  const work = { name: `${method} ${pathname}${search}`, at: Date.now() };
  const end = (): void => {
    running.delete(work);
    answeredAt = Date.now();
  };
  running.add(work);
  signal.addEventListener("abort", end);
  try {
    return await answer();
  } finally {
    end();
  }
}

export async function answerControl(
  request: Request,
  env: ControlEnv,
  useState: (state: EdgeState) => void,
): Promise<Response> {
  switch (new URL(request.url).pathname) {
    case edgeControls.state:
      useState(await request.json());
      break;
    case edgeControls.work: {
      const response = await env.activity?.fetch("http://activity/");
      const invocations = response === undefined ? null : await response.json<unknown[]>();
      const requests = [...running];
      const work: EdgeWork = { requests, invocations, answeredAt, now: Date.now() };
      return Response.json(work);
    }
    case edgeControls.abort:
      // First the scripts' objects, whose calls would wake buckets.
      await unsafe.abortAllDurableObjects?.();
      await env.store?.abortBuckets();
  }
  return new Response(null, { status: 204 });
}
