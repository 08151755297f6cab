/**
 * The one header of a view: where the person is, what is there, what can be done. Each view can be
 * loaded again with the button and with `r`.
 */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Place } from "../location.ts";
import { Icon } from "./icon.tsx";
import { Link } from "./navigation.tsx";
import { useShortcuts } from "./shortcuts.tsx";

interface Crumb {
  readonly label: string;
  readonly to: Place;
}

interface PageHeaderProps {
  readonly title: ComponentChildren;
  /** The way from the section to the title. */
  readonly crumbs?: readonly Crumb[];
  /** What the view has: "10 folders, 15 objects". */
  readonly counts?: ComponentChildren;
  /** The actions of the view: buttons. */
  readonly children?: ComponentChildren;
  readonly onReload: () => void;
  readonly isLoading?: boolean;
}

export function PageHeader(props: PageHeaderProps) {
  const { title, crumbs = [], counts, children, onReload, isLoading = false } = props;
  useShortcuts({ r: { label: "Reload", act: onReload } });
  return (
    <header class="page-header toolbar">
      <div class="page-place">
        {crumbs.length === 0 ? (
          <h1>{title}</h1>
        ) : (
          <Breadcrumbs crumbs={crumbs}>
            <h1 aria-current="page">{title}</h1>
          </Breadcrumbs>
        )}
        {counts !== undefined && <p class="page-counts">{counts}</p>}
      </div>
      <div class="toolbar">
        {children}
        <button
          type="button"
          class={`button icon-button${isLoading ? " is-loading" : ""}`}
          aria-label="Reload"
          title="Reload (r)"
          onClick={onReload}
        >
          <Icon name="reload" />
        </button>
      </div>
    </header>
  );
}

interface BreadcrumbsProps {
  readonly crumbs: readonly Crumb[];
  readonly children: ComponentChildren;
}

function Breadcrumbs({ crumbs, children }: BreadcrumbsProps) {
  const list = useRef<HTMLOListElement>(null);
  const way = crumbs.map(({ label }) => label).join("/");
  // A deep folder has more lines than are shown: its own name is on the last line. A layout effect would
  // compute the layout of the view before its data is requested.
  useEffect(() => list.current?.scrollTo(0, list.current.scrollHeight), [way]);
  return (
    <nav class="breadcrumbs" aria-label="Breadcrumbs">
      <ol ref={list}>
        {crumbs.map(({ label, to }, index) => (
          <li key={index} title={label}>
            <Link to={to}>{label === "" ? <i>(no name)</i> : <bdi>{label}</bdi>}</Link>
          </li>
        ))}
        <li>{children}</li>
      </ol>
    </nav>
  );
}
