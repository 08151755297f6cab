/**
 * The frames of the binding in the stack of an error. A user looks for the line of the script, and the
 * binding is one line of minified code.
 */

/** The names that the plugin gives the modules of bindings. */
const ownFrame = /^\s+at .*\bledge-internal:store-(?:remote-)?binding\b/;

/** Removes the frames of the binding, if others are left. Returns the error. */
export function hideOwnFrames<Thrown>(error: Thrown): Thrown {
  if (!(error instanceof Error) || typeof error.stack !== "string") return error;
  const lines = error.stack.split("\n");
  const others = lines.filter((line) => !ownFrame.test(line));
  if (others.some((line) => /^\s+at /.test(line))) error.stack = others.join("\n");
  return error;
}
