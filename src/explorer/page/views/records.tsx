/** To be written. */
import type { Place } from "../location.ts";

type RecordsPlace = Extract<Place, { view: "records" }>;

export function RecordsView({ place }: { readonly place: RecordsPlace }) {
  return <h1>{place.view}</h1>;
}
