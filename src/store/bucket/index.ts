/** The module of the store's service: bucket objects, and their control. */
export { BucketObject } from "./bucket-object.ts";
export { StoreControl } from "./control.ts";

export default {};
