/**
 * `ledge/plugin`: the module that Miniflare loads for `unsafe` bindings whose `dev.plugin` names
 * it. Whatever starts Miniflare (wrangler, the vitest pool, the Vite plugin, a script of one's
 * own) gets the same buckets.
 */
import { storePlugin } from "./store-plugin.ts";

export const plugins = { store: storePlugin };
