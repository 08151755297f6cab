/** How a process that needs a folder for longer gets it from a brief owner (`folder-owner.ts`). */
import { setTimeout as delay } from "node:timers/promises";
import { within } from "./concurrency.ts";
import { readOwnerRecord } from "./folder-owner.ts";
import { OwnerLink } from "./owner-link.ts";
import { UserError } from "./user-error.ts";

const pollMilliseconds = 20;
/** A command first ends what it is doing. */
const handoverMilliseconds = 30_000;

/**
 * Makes this process the owner, after a brief owner has given the folder up. Returns `null` when the
 * folder has an owner that is not brief.
 *
 * @param take makes this process the owner; `null` when the folder has an owner
 */
export async function claimFolder<Owner>(
  folder: string,
  take: () => Promise<Owner | null>,
): Promise<Owner | null> {
  for (;;) {
    const owner = await take();
    if (owner !== null) return owner;
    const link = await OwnerLink.connect(folder);
    try {
      const record = readOwnerRecord(folder);
      // The owner starts or ends at this moment.
      if (link === null || record === null) await delay(pollMilliseconds);
      else if (!record.isBrief) return null;
      else {
        link.requestHandover();
        await waitForEnd(link, folder, record.processId);
      }
    } finally {
      link?.close();
    }
  }
}

async function waitForEnd(link: OwnerLink, folder: string, processId: number): Promise<void> {
  let hasEnded = false;
  await within(
    handoverMilliseconds,
    link.ended.then(() => (hasEnded = true)),
  );
  if (hasEnded) return;
  throw new UserError(
    `Process ${processId} owns ${folder} and does not give it up. Wait until the process ends, or ` +
      "stop it.",
  );
}
