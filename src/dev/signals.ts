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

/** How soon a shell's end is noticed. */
const shellMilliseconds = 250;

/**
 * Calls `onEnd` when the shell is gone that npm runs scripts in. npm hands signals to that shell,
 * which ends by them and tells nobody.
 *
 * @returns ends the watch
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

function onNewListener(event: string, listener: (...args: unknown[]) => void): void {
  if (!signals.some((signal) => signal === event)) return;
  queueMicrotask(() => process.off(event, listener));
}
