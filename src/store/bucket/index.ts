/** The store's service: bucket objects, their control, what serves content, and the door. */
export { BucketObject } from "./bucket-object.ts";
export { BucketRelay } from "./owner-bucket.ts";
export { ContentJoiner } from "./content-joiner.ts";
export { StoreControl } from "./store-control.ts";
export { LedgeStoreDoor } from "../endpoint/store-endpoint.ts";

export default {};
