/** The programs that use the buckets of the owner's runtime through its endpoint. */
export type ClientName = "explorer" | "s3" | "command line" | "node";

/** The header with the name of the program. A runtime of a client process sends none. */
export const clientHeader = "x-ledge-client";
