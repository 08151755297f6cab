/** Moved to `frame/`. This file goes when its last user imports from there. */
export { useProject } from "../frame/sidebar.tsx";
