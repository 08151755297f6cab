import type * as main from "./index.ts";

declare global {
  namespace Cloudflare {
    /** The bindings that `wrangler.jsonc` declares. */
    interface Env {
      NOTES: StoreBucket;
      /** The name of the runtime, from its environment. */
      RUNTIME: string;
    }
    interface GlobalProps {
      mainModule: typeof main;
    }
  }
  interface Env extends Cloudflare.Env {}
}
