/** Moved to `frame/`. This file goes when its last user imports from there. */
export { useNavigation } from "../frame/navigation.tsx";
