/** The buckets' worker: the bucket objects, the store control, the content joiner, the endpoint. */
export { StoreDisk } from "../bucket/bucket-disk.ts";
export { BucketObject } from "../bucket/bucket-object.ts";
export { OwnerBucket } from "../bucket/owner-bucket.ts";
export { ContentJoiner } from "../bucket/content-joiner.ts";
export { StoreControl } from "../bucket/store-control.ts";
export { LedgeStoreEndpoint } from "../bucket/endpoint.ts";

export default {};
