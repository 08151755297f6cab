import type { Account } from "./account.ts";
import type * as main from "./index.ts";

declare global {
  namespace Cloudflare {
    /** The bindings and variables that `wrangler.jsonc` declares. */
    interface Env {
      ACCOUNTS: Account[] | string;
      DNS: Fetcher;
    }
    interface GlobalProps {
      mainModule: typeof main;
    }
  }
  interface Env extends Cloudflare.Env {}
}
