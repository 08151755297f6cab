/** The frame of the page: the navigation, the banner of faults, the view of the place, and notices. */
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/frame.css";
import "./styles/live.css";
import "./styles/objects.css";
import "./styles/zones.css";
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ProjectInfo } from "../api/project.ts";
import { callApi, pageBase } from "./api-client.ts";
import { followChanges, useFetched } from "./frame/events.ts";
import { Link, NavigationContext, useAddress } from "./frame/navigation.tsx";
import { NoticeList, NoticesProvider } from "./frame/notices.tsx";
import { ShortcutHelp, useShortcuts } from "./frame/shortcuts.tsx";
import { Sidebar } from "./frame/sidebar.tsx";
import { TaskList, TasksProvider } from "./frame/tasks.tsx";
import { UploadTray } from "./objects/upload-tray.tsx";
import { FaultsBanner, FaultsView, useFaults } from "./faults/faults-view.tsx";
import type { Place } from "./location.ts";
import { BucketsView } from "./objects/buckets-view.tsx";
import { LiveView } from "./live/live-view.tsx";
import { ObjectsView } from "./objects/objects-view.tsx";
import { UploadsView } from "./objects/uploads-view.tsx";
import { DifferenceView } from "./state/difference-view.tsx";
import { StateView } from "./state/state-view.tsx";
import { LookupView } from "./zones/lookup-view.tsx";
import { RecordsView } from "./zones/records-view.tsx";
import { ZonesView } from "./zones/zones-view.tsx";

/** The page of the server for browsers without access looks for it (`server/page-files.ts`). */
if (pageBase !== "") localStorage.setItem("ledge-base", pageBase);

function App() {
  const navigation = useAddress();
  const { place } = navigation;
  const { data: project } = useFetched<ProjectInfo>(
    (signal) => callApi("/api/project", { signal }),
    "project",
    ({ topic }) => topic === "project",
  );
  const faults = useFaults();
  const [isHelpOpen, setHelpOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  useShortcuts({ "?": { label: "Show the shortcuts", act: () => setHelpOpen(true) } });
  // A person who uses the keyboard or a screen reader continues in the new view.
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [place.view]);
  return (
    <NavigationContext.Provider value={navigation}>
      <NoticesProvider>
        <TasksProvider>
          <a class="skip-link" href="#main">
            Skip to the content
          </a>
          <div class="frame">
            <Sidebar project={project} onShortcuts={() => setHelpOpen(true)} />
            <FaultsBanner faults={faults} />
            <main id="main" class="frame-main" ref={main} tabIndex={-1}>
              <ViewOf place={place} faults={faults} project={project} />
            </main>
            <UploadTray />
          </div>
          <NoticeList>
            <TaskList />
          </NoticeList>
          {isHelpOpen && <ShortcutHelp onClose={() => setHelpOpen(false)} />}
        </TasksProvider>
      </NoticesProvider>
    </NavigationContext.Provider>
  );
}

interface ViewProps {
  readonly place: Place;
  readonly faults: ReturnType<typeof useFaults>;
  readonly project: ProjectInfo | undefined;
}

function ViewOf({ place, faults, project }: ViewProps) {
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
      return <RecordsView place={place} scriptUrl={project?.scriptUrl ?? null} />;
    case "lookup":
      return <LookupView place={place} />;
    case "live":
      return <LiveView place={place} hasRequests={project?.hasRequests ?? true} />;
    case "faults":
      return <FaultsView faults={faults} />;
    case "state":
      return <StateView />;
    case "difference":
      return <DifferenceView place={place} />;
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

await followChanges();
render(<App />, document.getElementById("page") as HTMLElement);
