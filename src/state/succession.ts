/**
 * How a process becomes the owner of a folder that has an owner already (`owner.ts`): a client
 * follows an owner that ends (`Succession`), and a process that needs the folder until its own end
 * asks a brief owner for it (`claimFolder()`).
 *
 * A runtime is configured once, at its start, so the runtime of a client cannot open the databases
 * later. Instead the client's process stays connected to the owner. When the owner ends, the process
 * takes the folder and starts a service of its own, which listens where the last owner did. If
 * several clients do so, one gets the lock and the others are its clients.
 *
 * Such an owner is brief, as a rule: when a process needs the folder for longer, this process stops
 * its service, gives the folder up, and is a client again.
 */
import { setTimeout as delay } from "node:timers/promises";
import { within } from "../base/concurrency.ts";
import { UserError } from "../base/user-error.ts";
import { nameOwner, OwnerLink, readOwnerRecord, type FolderOwner } from "./owner.ts";

interface OwnerService {
  /** Returns when no process of the service runs any more. */
  stop(): Promise<void>;
}

interface SuccessionOptions<Owner> {
  readonly folder: string;
  /** Makes this process the owner; `null` when the folder has an owner. */
  readonly take: (onHandover: () => void) => Promise<Owner | null>;
  readonly start: (owner: Owner) => Promise<OwnerService>;
  /** Called when this process is a client of another owner, each time that the owner changes. */
  readonly onOwner?: (owner: OwnerLink) => void;
  /** Called before the service stops because another process wants the folder. */
  readonly beforeHandover?: () => Promise<void>;
}

const pollMilliseconds = 20;
/** A process that has asked for the folder takes the folder within this time. */
const successorMilliseconds = 5_000;
/** Between two attempts to start a service that does not start. */
const retryMilliseconds = 1_000;
/** For a brief owner to give the folder up. A command first ends what it is doing. */
const handoverMilliseconds = 30_000;
/** For the holder of a lock to listen at its socket. A process that starts on a busy machine takes longest. */
const silenceMilliseconds = 10_000;

export class Succession<Owner extends Pick<FolderOwner, "release"> = FolderOwner> {
  readonly #options: SuccessionOptions<Owner>;
  readonly #stopping = Promise.withResolvers<"stop">();
  readonly #ready = Promise.withResolvers<void>();
  readonly #ended: Promise<void>;
  #isStopped = false;
  #failure: Error | null = null;

  constructor(options: SuccessionOptions<Owner>) {
    this.#options = options;
    this.#ready.promise.catch(() => {});
    this.#ended = this.#run().finally(() => this.#ready.resolve());
  }

  /**
   * Resolves when this process is a client of another owner, or when its own service has started.
   * Rejects when the first attempt to become the owner fails.
   */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** Why the last attempt to become the owner failed; `null` after a success. */
  get failure(): Error | null {
    return this.#failure;
  }

  /** Stops the service, if this process is the owner, and does not become the owner again. */
  stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopping.resolve("stop");
    return this.#ended;
  }

  async #run(): Promise<void> {
    let silentSince: number | undefined;
    while (!this.#isStopped) {
      const link = await OwnerLink.connect(this.#options.folder);
      if (link !== null) {
        silentSince = undefined;
        this.#failure = null;
        this.#ready.resolve();
        this.#options.onOwner?.(link);
        await Promise.race([link.ended, this.#stopping.promise]);
        link.close();
        continue;
      }
      try {
        if (await this.#ownUntilAsked()) silentSince = undefined;
        else {
          silentSince ??= Date.now();
          requireAnswer(this.#options.folder, silentSince);
          await delay(pollMilliseconds);
        }
        this.#failure = null;
      } catch (error) {
        this.#failure = error as Error;
        this.#ready.reject(error);
        await Promise.race([delay(retryMilliseconds), this.#stopping.promise]);
      }
    }
  }

  /** Owns the folder until another process asks for it, or until the end. Returns false if taken. */
  async #ownUntilAsked(): Promise<boolean> {
    const handover = Promise.withResolvers<"handover">();
    const owner = await this.#options.take(() => handover.resolve("handover"));
    if (owner === null) return false;
    try {
      const service = await this.#options.start(owner);
      this.#failure = null;
      this.#ready.resolve();
      const reason = await Promise.race([handover.promise, this.#stopping.promise]);
      if (reason === "handover") await this.#options.beforeHandover?.();
      await service.stop();
    } finally {
      owner.release();
    }
    if (!this.#isStopped) await this.#waitForSuccessor();
    return true;
  }

  /** The process that has asked for the folder has to get the lock before this process does. */
  async #waitForSuccessor(): Promise<void> {
    const deadline = Date.now() + successorMilliseconds;
    while (!this.#isStopped && Date.now() < deadline) {
      const link = await OwnerLink.connect(this.#options.folder);
      link?.close();
      if (link !== null) return;
      await delay(pollMilliseconds);
    }
  }
}

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
  let silentSince: number | undefined;
  for (;;) {
    const owner = await take();
    if (owner !== null) return owner;
    const link = await OwnerLink.connect(folder);
    try {
      const record = readOwnerRecord(folder);
      if (link === null || record === null) {
        // The owner starts or ends at this moment.
        silentSince ??= Date.now();
        requireAnswer(folder, silentSince);
        await delay(pollMilliseconds);
      } else if (!record.isBrief) return null;
      else {
        silentSince = undefined;
        link.requestHandover();
        await waitForEnd(link, folder);
      }
    } finally {
      link?.close();
    }
  }
}

/** @throws UserError when the process that has the lock has not answered for too long */
function requireAnswer(folder: string, silentSince: number): void {
  if (Date.now() - silentSince < silenceMilliseconds) return;
  throw new UserError(
    `${nameOwner(readOwnerRecord(folder))} has the lock of ${folder}, and no process listens at the ` +
      'sockets of the folder: a program has removed its folder "sockets", or the process does not go on. ' +
      "Stop the process, and try again.",
  );
}

async function waitForEnd(link: OwnerLink, folder: string): Promise<void> {
  let hasEnded = false;
  await within(
    handoverMilliseconds,
    link.ended.then(() => (hasEnded = true)),
  );
  if (hasEnded) return;
  throw new UserError(
    `${nameOwner(readOwnerRecord(folder))} owns ${folder} and does not give it up. Wait until the ` +
      "process ends, or stop it.",
  );
}
