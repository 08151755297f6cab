/** The project, for the views: `null` until it is loaded. */
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { ProjectInfo } from "../../api/project.ts";

export const ProjectContext = createContext<ProjectInfo | null>(null);

export function useProject(): ProjectInfo | null {
  return useContext(ProjectContext);
}
