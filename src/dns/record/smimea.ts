import { certificateAssociation } from "./tlsa.ts";

/** RFC 8162 section 2. */
export const smimea = certificateAssociation("SMIMEA", 53);
