/**
 * `ledge/plugin`: the module that Miniflare loads for `unsafe` bindings whose `dev.plugin` names
 * it. wrangler, the vitest pool, the Vite plugin and programs that start Miniflare themselves all
 * get the same buckets and the same DNS.
 */
import "../../base/require-node.ts";
import { dnsPlugin } from "./dns-plugin.ts";
import { edgePlugin } from "./edge-plugin.ts";
import { isolationPlugin } from "./isolation-plugin.ts";
import { storePlugin } from "./store-plugin.ts";
import { activityPlugin, exceptionsPlugin } from "./tail-plugins.ts";

export const plugins = {
  store: storePlugin,
  dns: dnsPlugin,
  exceptions: exceptionsPlugin,
  activity: activityPlugin,
  isolation: isolationPlugin,
  edge: edgePlugin,
};
