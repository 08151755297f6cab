/** To be written. */
import type { Place } from "../location.ts";

type AskPlace = Extract<Place, { view: "ask" }>;

export function AskView({ place }: { readonly place: AskPlace }) {
  return <h1>{place.view}</h1>;
}
