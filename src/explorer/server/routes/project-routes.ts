/** The project, for the frame of the page. */
import { json, type Route } from "../call.ts";

export const projectRoutes: readonly Route[] = [
  {
    method: "GET",
    path: "/api/project",
    handle: async ({ context }) => json(await context.project()),
  },
];
