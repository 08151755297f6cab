/**
 * Records of uploads in the browser's storage, which all tabs share. A lock shows which tab works on
 * an upload; the browser releases the lock when the tab is closed or reloaded.
 */
import { parseRecord, type UploadRecord, type UploadRecords } from "./upload-record.ts";

const keyPrefix = "ledge-upload:";
const releases = new Map<string, () => void>();

export const storedRecords: UploadRecords = {
  all: () =>
    Object.keys(localStorage)
      .filter((key) => key.startsWith(keyPrefix))
      .map((key) => parseRecord(localStorage.getItem(key) ?? ""))
      .filter((record) => record !== null),

  save: (record: UploadRecord) => {
    try {
      localStorage.setItem(keyPrefix + record.uploadId, JSON.stringify(record));
      void hold(record.uploadId);
    } catch {
      // The storage is full: the upload works, and cannot continue after a reload.
    }
  },

  remove: (uploadId) => {
    localStorage.removeItem(keyPrefix + uploadId);
    releases.get(uploadId)?.();
    releases.delete(uploadId);
  },

  claim: async (uploadId) => {
    await hold(uploadId);
    const exists = localStorage.getItem(keyPrefix + uploadId) !== null;
    if (!exists) releases.get(uploadId)?.();
    return exists;
  },
};

/** Resolves when this tab has the lock. */
function hold(uploadId: string): Promise<void> {
  if (!("locks" in navigator)) return Promise.resolve();
  return new Promise((resolve) => {
    void navigator.locks.request(keyPrefix + uploadId, () => {
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      releases.set(uploadId, release);
      resolve();
      return released;
    });
  });
}
