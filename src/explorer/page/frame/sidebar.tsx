/** The navigation of the page: the sections, links of the project, and what a person sets. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ProjectInfo } from "../../api/project.ts";
import iconUrl from "../icon.svg";
import type { Place } from "../location.ts";
import { Dialog } from "./dialog.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { Menu } from "./menu.tsx";
import { Button } from "./parts.tsx";
import { Link, useNavigation } from "./navigation.tsx";

interface Section {
  readonly label: string;
  readonly icon: IconName;
  readonly place: Place;
  readonly views: readonly Place["view"][];
}

const buckets: Place = { view: "buckets" };
const lookup: Place = { view: "lookup", name: "", type: "" };

const sections: readonly Section[] = [
  { label: "Buckets", icon: "bucket", place: buckets, views: ["buckets", "objects", "uploads"] },
  { label: "Zones", icon: "zone", place: { view: "zones" }, views: ["zones", "records"] },
  { label: "DNS lookup", icon: "search", place: lookup, views: ["lookup"] },
  { label: "Live", icon: "live", place: { view: "live", filter: "" }, views: ["live"] },
  { label: "Faults", icon: "fault", place: { view: "faults" }, views: ["faults"] },
  { label: "State", icon: "state", place: { view: "state" }, views: ["state", "difference"] },
];

interface SidebarProps {
  /** `undefined` until the project is loaded. */
  readonly project: ProjectInfo | undefined;
  readonly onShortcuts: () => void;
}

export function Sidebar({ project, onShortcuts }: SidebarProps) {
  const { place } = useNavigation();
  const nav = useRef<HTMLElement>(null);
  // A narrow page shows some of the sections only.
  useEffect(() => {
    nav.current
      ?.querySelector("[aria-current]")
      ?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [place.view]);
  return (
    <header class="sidebar">
      <p class="sidebar-name">
        <img src={iconUrl} alt="" width="20" height="20" />
        <bdi>{project?.name ?? "Ledge"}</bdi>
      </p>
      <nav aria-label="Sections" ref={nav}>
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
      {project !== undefined && <ProjectLinks project={project} />}
      <div class="sidebar-tools">
        <ThemeMenu />
        <Button tone="quiet" icon="keyboard" label="Shortcuts" onClick={onShortcuts}>
          <span class="sidebar-word">Shortcuts</span>
        </Button>
      </div>
    </header>
  );
}

/** More would take the room of the sections. */
const linksMax = 5;

/** `photos.example.com/a`: as the script sees it. */
function linkName(link: string): string {
  const { host, pathname } = new URL(link);
  const name = host.replace(/:\d+$/, "").replace(/(?<!^[^.]+\.store)\.localhost$/, "");
  return pathname === "/" ? name : `${name}${pathname}`;
}

/** Where the project is reached by other programs. */
function ProjectLinks({ project }: { readonly project: ProjectInfo }) {
  const [isS3Open, setS3Open] = useState(false);
  const { scriptUrl, links, wranglerUrl, s3 } = project;
  if (scriptUrl === null && s3 === null) return null;
  return (
    <section aria-label="Project">
      <ul class="sidebar-links">
        {scriptUrl !== null && (
          <li>
            <a href={scriptUrl} target="_blank" rel="noreferrer">
              <Icon name="external" />
              Script
            </a>
          </li>
        )}
        {links.slice(0, linksMax).map((link) => (
          <li key={link}>
            <a href={link} target="_blank" rel="noreferrer">
              <Icon name="external" />
              <bdi>{linkName(link)}</bdi>
            </a>
          </li>
        ))}
        {wranglerUrl !== null && (
          <li>
            <a href={wranglerUrl} target="_blank" rel="noreferrer">
              <Icon name="external" />
              KV, D1 …
            </a>
          </li>
        )}
        {s3 !== null && (
          <li>
            <button type="button" onClick={() => setS3Open(true)}>
              <Icon name="key" />
              S3 access
            </button>
          </li>
        )}
      </ul>
      {isS3Open && s3 !== null && (
        <Dialog title="S3 access" onClose={() => setS3Open(false)}>
          <p class="soft">For clients of S3 on this machine. The region is auto.</p>
          <dl class="facts">
            <CopiedFact name="Address" value={s3.url} />
            <CopiedFact name="Access key" value={s3.accessKeyId} />
            {"secretAccessKey" in s3 ? (
              <CopiedFact name="Secret key" value={s3.secretAccessKey} />
            ) : (
              <>
                <dt>Secret key</dt>
                <dd>{s3.secretPlace}</dd>
              </>
            )}
          </dl>
        </Dialog>
      )}
    </section>
  );
}

function CopiedFact({ name, value }: { readonly name: string; readonly value: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <>
      <dt>{name}</dt>
      <dd class="toolbar">
        <span class="code grow">{value}</span>
        <Button
          tone="quiet"
          icon={isCopied ? "check" : "copy"}
          label={isCopied ? `${name} copied` : `Copy ${name}`}
          // A browser that refuses leaves the text to be selected by hand.
          onClick={() =>
            void navigator.clipboard.writeText(value).then(
              () => setCopied(true),
              () => setCopied(false),
            )
          }
        />
      </dd>
    </>
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
  const [chosen, setTheme] = useState(() => localStorage.getItem(storageKey) ?? "system");
  const theme = chosen in themes ? (chosen as Theme) : "system";
  useEffect(() => {
    document.documentElement.dataset["theme"] = theme;
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
