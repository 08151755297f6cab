/** The buckets' worker: the bucket objects, the store control, the content joiner, the endpoint. */
export { StoreDisk } from "./bucket-disk.ts";
export { BucketObject } from "./bucket-object.ts";
export { OwnerBucket } from "./owner-bucket.ts";
export { ContentJoiner } from "./content-joiner.ts";
export { StoreControl } from "./store-control.ts";
export { LedgeStoreEndpoint } from "./endpoint.ts";

export default {};
