/** The operations of a bucket, and the names that the binding's callers know them by. */
export const methodNames = {
  head: "head",
  get: "get",
  put: "put",
  delete: "delete",
  list: "list",
  createUpload: "createMultipartUpload",
  uploadPart: "uploadPart",
  completeUpload: "completeMultipartUpload",
  abortUpload: "abortMultipartUpload",
  listUploads: "listMultipartUploads",
  listParts: "listParts",
  getSettings: "getSettings",
  putSettings: "putSettings",
  createBucket: "createBucket",
  deleteBucket: "deleteBucket",
  stats: "stats",
  checkDisk: "checkDisk",
} as const;

export type Method = keyof typeof methodNames;
