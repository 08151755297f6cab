import type * as main from "./index.ts";

declare global {
  namespace Cloudflare {
    /** The bindings that `wrangler.jsonc` declares. */
    interface Env {
      NOTES: StoreBucket;
    }
    interface GlobalProps {
      mainModule: typeof main;
    }
  }
  interface Env extends Cloudflare.Env {}
}
