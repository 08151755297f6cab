/** Moved to `frame/`. This file goes when its last user imports from there. */
export { Link } from "../frame/navigation.tsx";
