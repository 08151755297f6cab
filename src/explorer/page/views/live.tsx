/** To be written. */
import type { Place } from "../location.ts";

type LivePlace = Extract<Place, { view: "live" }>;

export function LiveView({ place }: { readonly place: LivePlace }) {
  return <h1>{place.view}</h1>;
}
