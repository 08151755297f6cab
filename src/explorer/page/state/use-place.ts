/** The place that the page shows, and how it changes. */
import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { parsePlace, placeTitle, placeUrl, type Place } from "../location.ts";

export interface Navigation {
  readonly place: Place;
  /** @param replace whether the browser's "back" skips the place that is left */
  readonly go: (place: Place, replace?: boolean) => void;
}

export const NavigationContext = createContext<Navigation>({
  place: { view: "buckets" },
  go: () => {},
});

export function useNavigation(): Navigation {
  return useContext(NavigationContext);
}

/** For the frame of the page: the other parts use `useNavigation()`. */
export function useAddress(): Navigation {
  const [place, setPlace] = useState(readPlace);
  useEffect(() => {
    const read = (): void => setPlace(readPlace());
    addEventListener("popstate", read);
    return () => removeEventListener("popstate", read);
  }, []);
  useEffect(() => {
    document.title = placeTitle(place);
  }, [place]);
  const go = (next: Place, replace = false): void => {
    const url = placeUrl(next);
    if (url === `${location.pathname}${location.search}`) return;
    if (replace) history.replaceState(null, "", url);
    else history.pushState(null, "", url);
    setPlace(next);
  };
  return { place, go };
}

function readPlace(): Place {
  return parsePlace(location.pathname, location.search);
}
