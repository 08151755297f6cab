/** The navigation of the page: the sections, links of the project, and what a person sets. */
import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { ProjectInfo } from "../../api/project.ts";
import iconUrl from "../icon.svg";
import type { Place } from "../location.ts";
import { Icon, type IconName } from "./icon.tsx";
import { Menu } from "./menu.tsx";
import { Link, useNavigation } from "./navigation.tsx";

/** `null` until the project is loaded. */
export const ProjectContext = createContext<ProjectInfo | null>(null);

export function useProject(): ProjectInfo | null {
  return useContext(ProjectContext);
}

interface Section {
  readonly label: string;
  readonly icon: IconName;
  readonly place: Place;
  readonly views: readonly Place["view"][];
}

const sections: readonly Section[] = [
  {
    label: "Buckets",
    icon: "bucket",
    place: { view: "buckets" },
    views: ["buckets", "objects", "uploads"],
  },
  { label: "Zones", icon: "zone", place: { view: "zones" }, views: ["zones", "records"] },
  {
    label: "DNS lookup",
    icon: "search",
    place: { view: "lookup", name: "", type: "A" },
    views: ["lookup"],
  },
  { label: "Live", icon: "live", place: { view: "live", filter: "" }, views: ["live"] },
  { label: "Faults", icon: "fault", place: { view: "faults" }, views: ["faults"] },
];

export function Sidebar({ onShortcuts }: { readonly onShortcuts: () => void }) {
  const project = useProject();
  const { place } = useNavigation();
  return (
    <header class="sidebar">
      <p class="sidebar-name">
        <img src={iconUrl} alt="" width="20" height="20" />
        <bdi>{project?.name ?? "Ledge"}</bdi>
      </p>
      <nav aria-label="Sections">
        <ul class="sidebar-links">
          {sections.map(({ label, icon, place: target, views }) => (
            <li key={label}>
              <Link to={target} isCurrent={views.includes(place.view)}>
                <Icon name={icon} />
                {label}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div class="sidebar-tools">
        <ThemeMenu />
        <button type="button" class="button quiet" aria-label="Shortcuts" onClick={onShortcuts}>
          <Icon name="keyboard" />
          <span class="sidebar-word">Shortcuts</span>
        </button>
      </div>
    </header>
  );
}

const themes = {
  system: { label: "As the system", icon: "system" },
  light: { label: "Light", icon: "sun" },
  dark: { label: "Dark", icon: "moon" },
} as const;
type Theme = keyof typeof themes;
const storageKey = "ledge-theme";

/** Light, dark, or as the system has it. The choice stays in the browser. */
function ThemeMenu() {
  const [theme, setTheme] = useState<Theme>(readTheme);
  useEffect(() => {
    const { dataset } = document.documentElement;
    if (theme === "system") delete dataset["theme"];
    else dataset["theme"] = theme;
    localStorage.setItem(storageKey, theme);
  }, [theme]);
  return (
    <Menu
      label={`Colours: ${themes[theme].label}`}
      icon={themes[theme].icon}
      items={(Object.keys(themes) as Theme[]).map((name) => ({
        ...themes[name],
        isChecked: name === theme,
        act: () => setTheme(name),
      }))}
    />
  );
}

function readTheme(): Theme {
  const stored = localStorage.getItem(storageKey);
  return stored !== null && Object.hasOwn(themes, stored) ? (stored as Theme) : "system";
}
