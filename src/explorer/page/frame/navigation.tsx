/** The place that the page shows, how it changes, and links to other places. */
import { createContext, type ComponentChildren } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { pageBase } from "../api-client.ts";
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
    const url = placeHref(next);
    if (url === `${location.pathname}${location.search}`) return;
    if (replace) history.replaceState(null, "", url);
    else history.pushState(null, "", url);
    setPlace(next);
  };
  return { place, go };
}

function readPlace(): Place {
  return parsePlace(location.pathname.slice(pageBase.length), location.search);
}

/** The address of a place, for a link. */
export function placeHref(place: Place): string {
  return `${pageBase}${placeUrl(place)}`;
}

interface LinkProps {
  readonly to: Place;
  readonly children: ComponentChildren;
  readonly class?: string;
  /** Whether the link leads to where the person is. */
  readonly isCurrent?: boolean;
  readonly tabIndex?: number;
}

/** A link to a place. The browser's own ways to open a link in another tab work. */
export function Link({ to, children, class: className, isCurrent = false, tabIndex }: LinkProps) {
  const { go } = useNavigation();
  return (
    <a
      href={placeHref(to)}
      class={className}
      aria-current={isCurrent ? "page" : undefined}
      tabIndex={tabIndex}
      onClick={(event) => {
        const { button, metaKey, ctrlKey, shiftKey, altKey } = event;
        if (button !== 0 || metaKey || ctrlKey || shiftKey || altKey) return;
        event.preventDefault();
        go(to);
      }}
    >
      {children}
    </a>
  );
}
