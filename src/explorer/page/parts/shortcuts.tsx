/** Moved to `frame/`. This file goes when its last user imports from there. */
export { useShortcuts, type Shortcut } from "../frame/shortcuts.tsx";
