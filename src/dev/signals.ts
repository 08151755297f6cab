/**
 * Signals that ask the process to end.
 *
 * Miniflare handles some of them itself and exits at once: before the other runtimes have stopped,
 * and before the run records in the state folder are removed. So while a program owns its signals,
 * listeners that other code adds are removed.
 */
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Calls `onSignal` for each signal that asks the process to end.
 *
 * @returns a function that releases the signals
 */
export function ownSignals(onSignal: (signal: NodeJS.Signals) => void): () => void {
  for (const signal of signals) process.on(signal, onSignal);
  process.on("newListener", removeListener);
  return () => {
    process.off("newListener", removeListener);
    for (const signal of signals) process.off(signal, onSignal);
  };
}

const shellMilliseconds = 250;

/**
 * Calls `onEnd` when the shell has ended in which npm runs scripts. npm sends a signal to that
 * shell, and the shell ends without passing the signal on.
 *
 * @returns a function that ends the watch
 */
export function watchShell(onEnd: () => void): () => void {
  if (process.env["npm_lifecycle_event"] === undefined) return () => {};
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    onEnd();
  }, shellMilliseconds);
  return () => clearInterval(timer);
}

function removeListener(event: string, listener: (...args: unknown[]) => void): void {
  if (!signals.some((signal) => signal === event)) return;
  queueMicrotask(() => process.off(event, listener));
}
