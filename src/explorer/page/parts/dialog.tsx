/** Moved to `frame/`. This file goes when its last user imports from there. */
export { Dialog } from "../frame/dialog.tsx";
