/** The store's service: bucket objects, their control, what serves content, and the door. */
export { BucketObject } from "./bucket-object.ts";
export { BucketRelay } from "./bucket-relay.ts";
export { ContentJoiner } from "./content-joiner.ts";
export { StoreControl } from "./control.ts";
export { LedgeStoreDoor } from "../door/index.ts";

export default {};
