/**
 * `ledge/types`: the types of object storage as globals, as in `@cloudflare/workers-types`. Add
 * `"ledge/types"` to `types` in `tsconfig.json`.
 */
// `.js`, because the published declarations need this extension.
import type * as store from "./store.js";

declare global {
  interface StoreBucket extends store.StoreBucket {}
  interface StoreObject extends store.StoreObject {}
  interface StoreObjectBody extends store.StoreObjectBody {}
  interface StoreMultipartUpload extends store.StoreMultipartUpload {}
  interface StoreServiceError extends store.StoreServiceError {}
  interface StoreUploadedPart extends store.StoreUploadedPart {}
  interface StoreHTTPMetadata extends store.StoreHTTPMetadata {}
  interface StoreChecksums extends store.StoreChecksums {}
  interface StoreStringChecksums extends store.StoreStringChecksums {}
  interface StoreConditional extends store.StoreConditional {}
  interface StoreGetOptions extends store.StoreGetOptions {}
  interface StorePutOptions extends store.StorePutOptions {}
  interface StoreMultipartOptions extends store.StoreMultipartOptions {}
  interface StoreListOptions extends store.StoreListOptions {}
  type StoreObjects = store.StoreObjects;
  type StoreRange = store.StoreRange;
  type StoreStorageClass = store.StoreStorageClass;
  type StoreValue = store.StoreValue;
}
