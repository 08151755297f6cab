/** Waits for the result of a call that must find an object. */
export async function present<Found>(result: Promise<Found | null>): Promise<Found> {
  const found = await result;
  if (found === null) throw new Error("Expected an object, but the call resolved with null");
  return found;
}
