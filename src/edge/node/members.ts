/**
 * The dev servers of a state folder, as each of them announces itself: a file for each in `v3/edge/members`, and
 * beside it a lock that the process holds until its end (`state/lock.ts`). So a dev server that was killed
 * is no member.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, rmSync, watch } from "node:fs";
import { join } from "node:path";
import { makePrivateFolder, writeWhole } from "../../base/private-files.ts";
import { pluginFolder } from "../../state/folder.ts";
import { FileLock, removeFreeLock } from "../../state/lock.ts";
import type { EdgeMember } from "../core/edge-table.ts";

/** One change of the members is several events of the folder. */
const settleMilliseconds = 20;

export interface Announcement {
  /** Replaces what the others know of the member. */
  update(member: EdgeMember): void;
  /** A second call does nothing. */
  end(): void;
}

/** The ids of later members are greater. */
export function newMemberId(): string {
  return Date.now().toString(16).padStart(12, "0") + randomBytes(4).toString("hex");
}

/** Members end with their process, if `end()` was not called. */
export function announceMember(stateFolder: string, member: EdgeMember): Announcement {
  const folder = membersFolder(stateFolder);
  const path = filePath(folder, member.id);
  const lock = FileLock.takeOwn(lockPath(folder, member.id));
  const write = (now: EdgeMember): void => writeWhole(path, JSON.stringify(now));
  write(member);
  return {
    update: write,
    end() {
      for (const each of [path, lockPath(folder, member.id)]) rmSync(each, { force: true });
      lock.release();
    },
  };
}

/** The members that live, the oldest first. Removes what killed members have left. */
export function readMembers(stateFolder: string): EdgeMember[] {
  const folder = membersFolder(stateFolder);
  const ids = readdirSync(folder).flatMap((name) => /^([0-9a-f]+)\.lock$/.exec(name)?.[1] ?? []);
  return ids.toSorted().flatMap((id) => {
    const path = filePath(folder, id);
    if (removeFreeLock(lockPath(folder, id), () => rmSync(path, { force: true }))) return [];
    try {
      return JSON.parse(readFileSync(path, "utf8")) as EdgeMember;
    } catch {
      // The member begins or ends at this moment.
      return [];
    }
  });
}

/**
 * Calls `onChange` when a member begins, changes or ends. A member that is killed is noticed by its silence only.
 *
 * @returns a function that ends the watch
 */
export function watchMembers(stateFolder: string, onChange: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(membersFolder(stateFolder), (_, name) => {
    if (!name?.endsWith(".json")) return;
    clearTimeout(timer);
    timer = setTimeout(onChange, settleMilliseconds);
  });
  // The watch ends when the folder is removed; the dev server continues.
  watcher.on("error", () => {});
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}

function membersFolder(stateFolder: string): string {
  const own = pluginFolder(stateFolder, "edge");
  const folder = join(own, "members");
  for (const each of [own, folder]) makePrivateFolder(each);
  return folder;
}

function filePath(folder: string, id: string): string {
  return join(folder, `${id}.json`);
}

function lockPath(folder: string, id: string): string {
  return join(folder, `${id}.lock`);
}
