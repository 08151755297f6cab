/**
 * Requests to the script that know their test.
 *
 * A request to the script is another event in the isolate of the tests, and has an async context of its own. So `fetch`
 * of `SELF` and of `exports` writes the number of its task (a test, a suite or a file) into `cf` of the request, and
 * the handler of the script runs in the context of this task, with `cf` as the test gave it.
 */

/** A property of `cf` */
const mark = "ledge:task";

interface Mark {
  readonly task: number;
  /** `cf` of the test */
  readonly cf?: object;
}

type MarkedProperties = { readonly [mark]?: Mark };

interface Fetcher {
  fetch: (input: RequestInfo, init?: RequestInit) => Promise<Response>;
}

/**
 * @param stub of a script: `exports.default`
 * @param numberOfTask of the task that makes a request now
 */
export function markRequests(stub: object, numberOfTask: () => number | undefined): void {
  const prototype = Object.getPrototypeOf(stub) as Fetcher;
  const { fetch } = prototype;
  prototype.fetch = function (input, init) {
    const task = numberOfTask();
    if (task === undefined) return fetch.call(this, input, init);
    // A request can be given in the place of options, and its properties cannot be copied.
    const request = init instanceof Request ? new Request(input, init) : input;
    const options = init instanceof Request ? {} : init;
    const cf = options?.cf ?? (request instanceof Request ? cfOf(request) : undefined);
    return fetch.call(this, request, { ...options, cf: { [mark]: { task, cf } } } as RequestInit);
  };
}

/**
 * @param wrapper the prototype of the class through which the pool calls a handler
 * @param run calls the handler in the context of a task
 */
export function unmarkRequests(
  wrapper: object,
  run: (task: number, handle: () => unknown) => unknown,
): void {
  const prototype = wrapper as { fetch?: (request: Request) => unknown };
  const { fetch } = prototype;
  if (fetch === undefined) return;
  prototype.fetch = function (request) {
    const marked = markOf(request);
    if (marked === undefined) return fetch.call(this, request);
    // The property of the runtime cannot be changed. A copy of the request would have other headers, which can.
    Object.defineProperty(request, "cf", { configurable: true, value: marked.cf });
    return run(marked.task, () => fetch.call(this, request));
  };
}

function markOf(request: Request): Mark | undefined {
  return (request.cf as MarkedProperties | undefined)?.[mark];
}

/** A script may pass on a copy of a request, which has the mark. */
function cfOf(request: Request): object | undefined {
  const marked = markOf(request);
  return marked === undefined ? request.cf : marked.cf;
}
