/** A link to a place. The browser's own ways to open a link in another tab work. */
import type { ComponentChildren } from "preact";
import { placeUrl, type Place } from "../location.ts";
import { useNavigation } from "../state/use-place.ts";

interface LinkProps {
  readonly to: Place;
  readonly children: ComponentChildren;
  readonly class?: string;
  /** Whether the link leads to where the person is. */
  readonly isCurrent?: boolean;
  readonly tabIndex?: number;
}

export function Link({ to, children, class: className, isCurrent = false, tabIndex }: LinkProps) {
  const { go } = useNavigation();
  return (
    <a
      href={placeUrl(to)}
      {...(className !== undefined && { class: className })}
      {...(isCurrent && { "aria-current": "page" as const })}
      {...(tabIndex !== undefined && { tabIndex })}
      onClick={(event) => {
        if (
          event.button !== 0 ||
          event.metaKey ||
          event.ctrlKey ||
          event.shiftKey ||
          event.altKey
        ) {
          return;
        }
        event.preventDefault();
        go(to);
      }}
    >
      {children}
    </a>
  );
}
