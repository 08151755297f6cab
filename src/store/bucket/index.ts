/** The store's service: bucket objects, their control, what serves content, and the endpoint. */
export { BucketObject } from "./bucket-object.ts";
export { OwnerBucket } from "./owner-bucket.ts";
export { ContentJoiner } from "./content-joiner.ts";
export { StoreControl } from "./store-control.ts";
export { LedgeStoreEndpoint } from "../endpoint/store-endpoint.ts";

export default {};
