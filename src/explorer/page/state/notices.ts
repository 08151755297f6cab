/** Moved to `frame/`. This file goes when its last user imports from there. */
export { useNotices } from "../frame/notices.tsx";
