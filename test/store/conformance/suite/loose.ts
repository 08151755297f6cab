/** The same objects without parameter types, for calls with bad arguments. */
import type {
  StoreBucket,
  StoreMultipartUpload,
  StoreObject,
} from "../../../../src/types/store.ts";

type Method<Result> = (...parameters: unknown[]) => Result;

interface LooseBucket {
  head: Method<Promise<unknown>>;
  get: Method<Promise<unknown>>;
  put: Method<Promise<unknown>>;
  delete: Method<Promise<unknown>>;
  list: Method<Promise<unknown>>;
  createMultipartUpload: Method<Promise<unknown>>;
  resumeMultipartUpload: Method<StoreMultipartUpload>;
}

interface LooseUpload {
  uploadPart: Method<Promise<unknown>>;
  complete: Method<Promise<unknown>>;
  abort: Method<Promise<unknown>>;
}

export function looseBucket(bucket: StoreBucket): LooseBucket {
  return bucket as unknown as LooseBucket;
}

export function looseUpload(upload: StoreMultipartUpload): LooseUpload {
  return upload as unknown as LooseUpload;
}

export function looseObject(object: StoreObject): { writeHttpMetadata: Method<void> } {
  return object as unknown as { writeHttpMetadata: Method<void> };
}
