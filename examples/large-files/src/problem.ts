/** Error responses: a status, and a sentence that says what to do. */

export function problem(
  status: number,
  message: string,
  headers: HeadersInit = {},
  details: Record<string, unknown> = {},
): Response {
  return Response.json({ error: message, ...details }, { status, headers });
}

/** The code of an error of the bucket: the number in parentheses at the end of its message. */
export function errorCode(error: unknown): number | null {
  const code = /\((\d+)\)$/.exec(error instanceof Error ? error.message : "")?.[1];
  return code === undefined ? null : Number(code);
}
