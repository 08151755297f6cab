/**
 * Work on objects and records, which goes on when the page is closed. A deletion begins ten seconds after
 * its request, and can be cancelled until then: nothing has to be restored.
 *
 *     GET    /api/tasks            Task[]       waiting and running tasks, and those that ended lately
 *     POST   /api/tasks  NewTask   Task
 *     DELETE /api/tasks/:id        Task         cancels: a running task ends after its current object
 */
export type NewTask = DeleteTask | CopyTask | DeleteRecordsTask;

/** Exactly the named objects, and all objects below the named folders. */
export interface ObjectSelection {
  readonly bucket: string;
  readonly keys: readonly string[];
  /** Each ends in the delimiter. */
  readonly prefixes: readonly string[];
}

interface DeleteTask extends ObjectSelection {
  readonly kind: "delete";
}

/** Copies, moves or renames. */
export interface CopyTask extends ObjectSelection {
  readonly kind: "copy" | "move";
  readonly to: {
    readonly bucket: string;
    /**
     * With one key and no prefix: the new key. Otherwise the new prefix: the last segment of each
     * key or folder, and what is below it, is appended.
     */
    readonly key: string;
  };
  /** Without it, an object that exists at the target is left alone and reported. */
  readonly overwrite: boolean;
}

export interface DeleteRecordsTask {
  readonly kind: "deleteRecords";
  /** The id of the zone. */
  readonly zone: string;
  readonly zoneName: string;
  readonly records: readonly {
    readonly id: string;
    readonly name: string;
    readonly type: string;
  }[];
}

export type ObjectTask = TaskState &
  ObjectSelection & { readonly kind: "delete" | "copy" | "move" };

export type Task = ObjectTask | (TaskState & DeleteRecordsTask);

interface TaskState {
  readonly id: string;
  readonly state: "waiting" | "running" | "done" | "failed" | "cancelled";
  /** When a waiting task begins: milliseconds since the epoch. */
  readonly begins: number;
  /** Objects or records that are deleted, copied or moved. */
  readonly done: number;
  /** `null` while they are counted. */
  readonly total: number | null;
  /** The first failures. */
  readonly failures: readonly { readonly key: string; readonly message: string }[];
  readonly failed: number;
}

/** How long a deletion waits. */
export const undoMilliseconds = 10_000;
