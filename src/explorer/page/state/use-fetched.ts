/** Moved to `frame/`. This file goes when its last user imports from there. */
export { useFetched } from "../frame/events.ts";
