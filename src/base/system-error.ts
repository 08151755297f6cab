/** An error of the operating system as a sentence, for commands. */

/** Node's message: `EACCES: permission denied, open '/etc/shadow'`. */
const messagePattern = /^[A-Z0-9]+: (.+?), \w+(?: |$)/;

/** `null` for an error that does not come from a call of the operating system. */
export function systemErrorText(error: unknown): string | null {
  const { code, syscall, path, message } = error as NodeJS.ErrnoException;
  if (!(error instanceof Error) || code === undefined || syscall === undefined) return null;
  const reason = messagePattern.exec(message)?.[1] ?? message;
  const place = path === undefined ? syscall : path;
  return `Cannot use ${place}: ${reason} (${code}).`;
}
