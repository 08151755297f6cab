/** To be written. */
import type { Place } from "../location.ts";

type ObjectsPlace = Extract<Place, { view: "objects" }>;

export function ObjectsView({ place }: { readonly place: ObjectsPlace }) {
  return <h1>{place.view}</h1>;
}
