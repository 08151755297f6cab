/** Refusals: a status, and a sentence that says what to do about it. */

export function problem(status: number, message: string, headers?: HeadersInit): Response {
  return Response.json({ error: message }, { status, ...(headers && { headers }) });
}

/**
 * The answer to an error of the bucket. Its errors say their code at the end, in parentheses; those
 * that are the request's fault become 4xx, and the rest is thrown on.
 */
export function problemOf(error: unknown): Response {
  const message = error instanceof Error ? error.message : String(error);
  if (message.includes("must have a known length")) {
    return problem(411, "Send the photo with a Content-Length.");
  }
  switch (/\((\d+)\)$/.exec(message)?.[1]) {
    case "10012":
      return problem(431, "The headers that are stored with a photo are too long.");
    case "10020":
      return problem(400, "A key has 1 to 1024 bytes of UTF-8.");
    case "100100":
      return problem(413, "One photo can have 5 GiB less 5 MiB.");
    case undefined:
    default:
      throw error;
  }
}
