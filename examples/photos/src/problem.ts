/** Error responses: a status, and a sentence that says what to do. */

export function problem(status: number, message: string, headers?: HeadersInit): Response {
  return Response.json({ error: message }, { status, ...(headers && { headers }) });
}

/**
 * The response to an error of the bucket, whose message ends with a code in parentheses. Errors
 * caused by the request become 4xx responses; other errors are rethrown.
 */
export function problemOf(error: unknown): Response {
  const message = error instanceof Error ? error.message : String(error);
  if (message.includes("must have a known length")) {
    return problem(411, "Send the photo with a Content-Length.");
  }
  switch (/\((\d+)\)$/.exec(message)?.[1]) {
    case "10012":
      return problem(431, "The stored headers of a photo are too long.");
    case "10020":
      return problem(400, "A key must have 1 to 1024 bytes of UTF-8.");
    case "100100":
      return problem(413, "A photo can have at most 5 GiB less 5 MiB.");
    case undefined:
    default:
      throw error;
  }
}
