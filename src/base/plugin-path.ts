/** The module that Miniflare loads, as a path. It is built beside this one. */
import { fileURLToPath } from "node:url";

export const pluginPath = fileURLToPath(new URL("./plugin.js", import.meta.url));
