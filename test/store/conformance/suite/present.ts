/** The object that a call must have found. */
export async function present<Found>(result: Promise<Found | null>): Promise<Found> {
  const found = await result;
  if (found === null) throw new Error("Cannot look at the object: the call resolved with null");
  return found;
}
