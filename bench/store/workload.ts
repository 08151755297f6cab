/**
 * The measured work on a bucket.
 *
 * The same code drives all three sides: workerd loads it with a binding as `bucket`, and Node loads
 * it with the floor. A session is prepared (creates bodies, stores objects), run any number of
 * times, verified and cleaned. Only runs are timed, from outside, because the clock of workerd
 * stands still during a request. The modules of the workload import only each other.
 */
import type { Operation } from "./operation.ts";
import { operations } from "./operations.ts";
import { removeWritten, Session, type Bucket, type Streams, type Task } from "./session.ts";

export interface Message {
  readonly phase: "prepare" | "run" | "verify" | "clean" | "empty";
  readonly bucket: string;
  readonly side: string;
  readonly task: Task;
  readonly from: number;
  readonly count: number;
}

const sessions = new Map<string, Session>();

/** Executes one phase. The result is that of the verification, and empty for other phases. */
export async function handleMessage(
  message: Message,
  bucket: Bucket,
  streams: Streams,
): Promise<string> {
  const { phase, side, task, from, count } = message;
  if (phase === "empty") return "";
  const name = `${side} ${task.folder}`;
  let session = sessions.get(name);
  if (session === undefined) sessions.set(name, (session = new Session(task, bucket, streams)));
  session.task = task;
  session.bucket = bucket;
  const operation = operations[task.operation] as Operation;
  switch (phase) {
    case "prepare":
      await operation.prepare(session, count);
      return "";
    case "run":
      await run(session, from, count);
      return "";
    case "verify":
      return operation.verify(session);
    case "clean":
      await removeWritten(session);
      sessions.delete(name);
      return "";
  }
}

async function run(session: Session, from: number, count: number): Promise<void> {
  const { atOnce, operation } = session.task;
  const { once } = operations[operation] as Operation;
  for (let index = from; index < from + count; index += atOnce) {
    if (atOnce === 1 || count === 1) await once(session, index);
    else
      await Promise.all(Array.from({ length: atOnce }, (_, turn) => once(session, index + turn)));
  }
}
