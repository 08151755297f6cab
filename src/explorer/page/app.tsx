/** The frame of the page: the navigation, the banner of unusual conditions, and the view of the place. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ProjectInfo } from "../api/project.ts";
import { callApi } from "./api-client.ts";
import { NoticeList, useNoticeList } from "./parts/notice-list.tsx";
import { Link } from "./parts/link.tsx";
import { UploadTray } from "./objects/upload-tray.tsx";
import { ThemeSwitch } from "./parts/theme-switch.tsx";
import { KeyHelp, useShortcuts } from "./parts/shortcuts.tsx";
import { ConditionsBanner } from "./parts/conditions-banner.tsx";
import { NoticesContext } from "./state/notices.ts";
import { NavigationContext, useAddress } from "./state/use-place.ts";
import { useFetched } from "./state/use-fetched.ts";
import { ProjectContext } from "./state/project.ts";
import type { Place } from "./location.ts";
import { AskView } from "./views/ask.tsx";
import { BucketsView } from "./views/buckets.tsx";
import { ConditionsView } from "./views/conditions.tsx";
import { LiveView } from "./views/live.tsx";
import { ObjectsView } from "./views/objects.tsx";
import { RecordsView } from "./views/records.tsx";
import { UploadsView } from "./objects/uploads-view.tsx";
import { ZonesView } from "./views/zones.tsx";

const sections: readonly { label: string; place: Place; views: readonly Place["view"][] }[] = [
  { label: "Buckets", place: { view: "buckets" }, views: ["buckets", "objects", "uploads"] },
  { label: "Zones", place: { view: "zones" }, views: ["zones", "records"] },
  { label: "Ask", place: { view: "ask", name: "", type: "A" }, views: ["ask"] },
  { label: "Live", place: { view: "live", filter: "" }, views: ["live"] },
  { label: "Conditions", place: { view: "conditions" }, views: ["conditions"] },
];

export function App() {
  const navigation = useAddress();
  const { place, go } = navigation;
  const notices = useNoticeList();
  const project = useFetched<ProjectInfo>(
    (signal) => callApi("/api/project", { signal }),
    "project",
  );
  const [isHelpOpen, setHelpOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  useShortcuts({ "?": { label: "Show the keys", act: () => setHelpOpen(true) } });
  const view = place.view;
  // A person who uses the keyboard or a screen reader continues in the new view.
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [view]);
  const context = useMemo(() => project.data ?? null, [project.data]);
  return (
    <NavigationContext.Provider value={{ place, go }}>
      <NoticesContext.Provider value={notices.notices}>
        <ProjectContext.Provider value={context}>
          <a class="skip-link" href="#main">
            Skip to the content
          </a>
          <div class="frame">
            <header class="frame-header">
              <p class="frame-name">
                <img src="/assets/icon.svg" alt="" width="20" height="20" />
                <span>{project.data?.name ?? "Ledge"}</span>
              </p>
              <nav aria-label="Sections">
                <ul class="frame-sections">
                  {sections.map(({ label, place: target, views }) => (
                    <li key={label}>
                      <Link to={target} isCurrent={views.includes(view)}>
                        {label}
                      </Link>
                    </li>
                  ))}
                </ul>
              </nav>
              <div class="frame-tools">
                <ThemeSwitch />
                <button type="button" class="button quiet" onClick={() => setHelpOpen(true)}>
                  Keys <kbd>?</kbd>
                </button>
              </div>
            </header>
            <ConditionsBanner />
            <main id="main" class="frame-main" ref={main} tabIndex={-1}>
              <ViewOf place={place} />
            </main>
            <UploadTray />
          </div>
          <NoticeList list={notices.list} onDismiss={notices.notices.dismiss} />
          {isHelpOpen && <KeyHelp onClose={() => setHelpOpen(false)} />}
        </ProjectContext.Provider>
      </NoticesContext.Provider>
    </NavigationContext.Provider>
  );
}

function ViewOf({ place }: { readonly place: Place }) {
  switch (place.view) {
    case "buckets":
      return <BucketsView />;
    case "objects":
      return <ObjectsView place={place} />;
    case "uploads":
      return <UploadsView bucket={place.bucket} />;
    case "zones":
      return <ZonesView />;
    case "records":
      return <RecordsView place={place} />;
    case "ask":
      return <AskView place={place} />;
    case "live":
      return <LiveView place={place} />;
    case "conditions":
      return <ConditionsView />;
    case "unknown":
      return (
        <section class="state">
          <h1>There is no such page</h1>
          <p>
            The explorer has nothing at <code>{place.path}</code>.
          </p>
          <Link to={{ view: "buckets" }}>Show the buckets</Link>
        </section>
      );
  }
}
