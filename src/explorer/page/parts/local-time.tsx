/** Moved to `frame/`. This file goes when its last user imports from there. */
export { Time as LocalTime } from "../frame/parts.tsx";
