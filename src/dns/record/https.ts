import { serviceBinding } from "./svcb.ts";

/** RFC 9460 section 9. */
export const https = serviceBinding("HTTPS", 65);
