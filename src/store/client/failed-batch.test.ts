import { describe, expect, it } from "vitest";
import type { DiskProblem } from "../../state/disk.ts";
import type { Operation } from "../core/operations.ts";
import { refusedOutcome } from "../core/refused-outcome.ts";
import { operationIn, type OperationMessage, type OutcomeMessage } from "../transport/message.ts";
import { answerFailedBatch, type StoreDiskClient } from "./failed-batch.ts";

const lost = new Error("internal error; reference = x");
const full = { text: "No space left on the device that holds /state.", lacksSpace: true };
const other = { text: "other", lacksSpace: false };
const head: Operation = { method: "head", key: "a" };
const remove: Operation = { method: "delete", keys: ["b"] };
const put = {
  method: "put",
  key: "c",
  content: { blob: "run.blob", size: 200_000, checksums: {} },
} as unknown as Operation;

function bucket(options: {
  problem: DiskProblem | null;
  diskProblem?: DiskProblem | null;
  failures?: number;
  hasRequestId?: boolean;
}) {
  const { problem, diskProblem = null, failures = 0, hasRequestId = false } = options;
  const sent: Operation[][] = [];
  const send = async (messages: OperationMessage[]): Promise<OutcomeMessage[]> => {
    const operations = messages.map(operationIn);
    sent.push(operations);
    if (sent.length <= failures) throw lost;
    return operations.map(({ method }) =>
      method === "checkDisk" ? { ok: true, value: { problem } } : { ok: true, value: null },
    );
  };
  const disk = { findProblem: async () => diskProblem } as unknown as StoreDiskClient;
  return { sent, recovery: { send, disk, hasRequestId } };
}

describe("answerFailedBatch()", () => {
  it("throws the error when the disk is not the reason", async () => {
    const { recovery, sent } = bucket({ problem: null });
    await expect(answerFailedBatch(recovery, [head], lost)).rejects.toBe(lost);
    expect(sent).toHaveLength(1);
  });

  it("repeats reads and deletes, and refuses puts", async () => {
    const { recovery, sent } = bucket({ problem: full });
    const answers = await answerFailedBatch(recovery, [head, put, remove], lost);
    const done = { ok: true, value: null };
    expect(answers).toEqual([done, refusedOutcome(full), done]);
    expect(sent[0]).toMatchObject([{ method: "checkDisk", blobs: ["run.blob"] }]);
    expect(sent[1]).toEqual([head, remove]);
  });

  it("repeats the whole batch where the bucket knows its id", async () => {
    const { recovery, sent } = bucket({ problem: full, hasRequestId: true });
    await answerFailedBatch(recovery, [head, put, remove], lost);
    expect(sent[1]).toEqual([head, put, remove]);
  });

  it("asks the disk when the bucket does not answer, and then the bucket again", async () => {
    const { recovery, sent } = bucket({ problem: full, diskProblem: other, failures: 1 });
    expect(await answerFailedBatch(recovery, [put], lost)).toEqual([refusedOutcome(full)]);
    expect(sent).toHaveLength(2);
  });

  it("says what the disk says when the bucket never answers", async () => {
    const { recovery } = bucket({ problem: null, diskProblem: full, failures: Infinity });
    await expect(answerFailedBatch(recovery, [head], lost)).rejects.toThrow(full.text);
    await expect(
      answerFailedBatch(bucket({ problem: null, failures: 9 }).recovery, [head], lost),
    ).rejects.toBe(lost);
  });
});
