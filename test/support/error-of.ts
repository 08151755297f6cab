/** What a call throws; `null` if the call returns. For properties that allow both. */
export function errorOf(work: () => unknown): unknown {
  try {
    work();
    return null;
  } catch (error) {
    return error;
  }
}
