/**
 * Messages of the runtime that isolation causes.
 *
 * Isolation ends the objects behind bindings when a test ends. The runtime reports this for each body that a test has left
 * unread, each call that is still running, and each alarm, with stacks of C++. The pool prints what the runtime
 * reports. Calls that were cancelled have a warning of Ledge, which names the test.
 */
const ofIsolation =
  /^(?:uncaught exception; |exception = ).*\bApplication called abortAllDurableObjects\(\)|^NOSENTRY SQLite alarm handler canceled /;

const streams = new WeakSet();

/** Leaves these messages out of what is written to a stream of this process. */
export function hideMessagesOfIsolation(stream: Pick<NodeJS.WriteStream, "write">): void {
  if (streams.has(stream)) return;
  streams.add(stream);
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  stream.write = (...args: unknown[]) => {
    const [chunk] = args;
    return typeof chunk === "string" && ofIsolation.test(chunk) ? true : write(...args);
  };
}
