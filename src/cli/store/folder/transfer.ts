/** Many objects between a folder and a bucket: what import and export share. */
import { counted, formatBytes } from "../../../base/format.ts";
import { mapConcurrent } from "../../../base/concurrency.ts";
import type { Progress } from "../../../base/progress.ts";
import { UserError } from "../../../base/user-error.ts";
import { asUserError } from "../../../store/node/bucket-objects.ts";
import { exitCode, type Invocation } from "../../command.ts";
import { print, printRemark } from "../../output.ts";

export interface TransferResult {
  transferred: number;
  /** Files or objects that were the same already. */
  unchanged: number;
  /** The bytes of everything transferred. */
  bytes: number;
  readonly failures: { readonly name: string; readonly message: string }[];
}

/** The outcome for one object: a number of bytes is a transfer, `"gone"` is not counted. */
export type TransferOutcome = number | "unchanged" | "gone";

const concurrencyMax = 64;

/** Transfers every item. The failure of one item does not stop the others. */
export async function transferAll<Item>(
  items: AsyncIterable<Item>,
  {
    nameOf,
    transfer,
    progress,
  }: {
    readonly nameOf: (item: Item) => string;
    /** @throws UserError or StoreError when this item fails; other errors end the whole transfer */
    readonly transfer: (item: Item) => Promise<TransferOutcome>;
    readonly progress: Progress;
  },
): Promise<TransferResult> {
  const result: TransferResult = { transferred: 0, unchanged: 0, bytes: 0, failures: [] };
  await mapConcurrent(items, concurrencyMax, async (item) => {
    try {
      const outcome = await asUserError(transfer(item));
      if (outcome === "gone") return;
      if (outcome === "unchanged") result.unchanged++;
      else {
        result.transferred++;
        result.bytes += outcome;
      }
      progress.add(outcome === "unchanged" ? 0 : outcome);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      result.failures.push({ name: nameOf(item), message: error.message });
    }
  });
  return result;
}

/** Prints the result and every failure. Returns the exit code. */
export function reportTransfer(
  invocation: Invocation,
  verb: "Imported" | "Exported",
  result: TransferResult,
): number {
  const { transferred, unchanged, bytes, failures } = result;
  for (const { name, message } of failures) printRemark(`${name}: ${message}`);
  print(
    invocation,
    result,
    `${verb} ${counted(transferred, "object")}, ${formatBytes(bytes)}.` +
      (unchanged === 0 ? "" : ` ${unchanged} unchanged.`) +
      (failures.length === 0 ? "" : ` ${failures.length} failed.`),
  );
  return failures.length === 0 ? exitCode.done : exitCode.failed;
}
