/** To be written. */
import type { Route } from "../call.ts";

export const taskRoutes: readonly Route[] = [];
