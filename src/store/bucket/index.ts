/** The modules of the store's service: bucket objects, their control, and what serves content. */
export { BucketObject } from "./bucket-object.ts";
export { BucketRelay } from "./bucket-relay.ts";
export { ContentJoiner } from "./content-joiner.ts";
export { StoreControl } from "./control.ts";

export default {};
