/** Refusals: a status, and a sentence that says what to do about it. */

export function problem(
  status: number,
  message: string,
  headers: HeadersInit = {},
  facts: Record<string, unknown> = {},
): Response {
  return Response.json({ error: message, ...facts }, { status, headers });
}

/** The code that errors of the bucket have at their end, in parentheses. */
export function errorCode(error: unknown): number | null {
  const code = /\((\d+)\)$/.exec(error instanceof Error ? error.message : "")?.[1];
  return code === undefined ? null : Number(code);
}
