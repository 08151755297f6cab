/** All routes of the explorer's API. */
import type { Route } from "../context.ts";
import { activityRoutes } from "./activity-routes.ts";
import { bucketRoutes } from "./bucket-routes.ts";
import { faultRoutes } from "./fault-routes.ts";
import { objectRoutes } from "./object-routes.ts";
import { projectRoutes } from "./project-routes.ts";
import { taskRoutes } from "./task-routes.ts";
import { uploadRoutes } from "./upload-routes.ts";
import { zoneRoutes } from "./zone-routes.ts";

export const routes: readonly Route[] = [
  ...projectRoutes,
  ...bucketRoutes,
  ...objectRoutes,
  ...uploadRoutes,
  ...taskRoutes,
  ...zoneRoutes,
  ...activityRoutes,
  ...faultRoutes,
];
