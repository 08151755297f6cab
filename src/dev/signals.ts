/**
 * Signals that end the process in good order.
 *
 * Miniflare answers some of them itself, with an exit on the spot: before its other runtimes are
 * down, and before notes in the state's folder are taken away. So while a program owns its
 * signals, what others hang on them is taken off again.
 */
const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Calls `onSignal` for each signal that asks the process to end.
 *
 * @returns gives the signals back
 */
export function ownSignals(onSignal: (signal: NodeJS.Signals) => void): () => void {
  for (const signal of signals) process.on(signal, onSignal);
  process.on("newListener", onNewListener);
  return () => {
    process.off("newListener", onNewListener);
    for (const signal of signals) process.off(signal, onSignal);
  };
}

function onNewListener(event: string, listener: (...args: unknown[]) => void): void {
  if (!signals.some((signal) => signal === event)) return;
  queueMicrotask(() => process.off(event, listener));
}
