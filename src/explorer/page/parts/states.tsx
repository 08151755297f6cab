/** Moved to `frame/`. This file goes when its last user imports from there. */
export { Empty, Loading, Problem } from "../frame/parts.tsx";
