import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { temporaryFolder } from "../../../test/support/store.ts";
import type { EdgeMember } from "../core/edge-table.ts";
import { announceMember, newMemberId, readMembers, watchMembers } from "./members.ts";

/** The file system tells of a change late on a busy machine. */
const waiting = { timeout: 30_000 };

function memberOf(id: string, port = 8787): EdgeMember {
  const url = `http://127.0.0.1:${port}`;
  return { id, processId: 1, url, token: "token", scripts: ["photos"], routes: [], buckets: [] };
}

function filesOf(folder: string): string[] {
  return readdirSync(join(folder, "v3/edge/members"));
}

it("readMembers() has the members in the order of their ids, as they are now", () => {
  const folder = temporaryFolder();
  const second = announceMember(folder, memberOf("0b"));
  const first = announceMember(folder, memberOf("0a"));
  second.update(memberOf("0b", 8788));
  expect(readMembers(folder)).toEqual([memberOf("0a"), memberOf("0b", 8788)]);
  first.end();
  first.end();
  expect(readMembers(folder)).toEqual([memberOf("0b", 8788)]);
  second.end();
  expect(filesOf(folder)).toEqual([]);
});

it("newMemberId() is greater than an earlier id", () => {
  const [first, second] = [newMemberId(), newMemberId()];
  expect(first.slice(0, 12) <= second.slice(0, 12)).toBe(true);
  expect(first).not.toBe(second);
});

it("a process that is killed is no member, and leaves no file", async () => {
  const folder = temporaryFolder();
  const module = new URL("./members.ts", import.meta.url).href;
  const program = `
    import { announceMember } from ${JSON.stringify(module)};
    announceMember(${JSON.stringify(folder)}, ${JSON.stringify(memberOf("0a"))});
    console.log("announced");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program]);
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  expect(readMembers(folder)).toEqual([memberOf("0a")]);
  const ended = once(child, "close");
  child.kill("SIGKILL");
  await ended;
  expect(readMembers(folder)).toEqual([]);
  expect(filesOf(folder)).toEqual([]);
});

it("watchMembers() hears of members that begin, change and end", async () => {
  const folder = temporaryFolder();
  const seen: string[][] = [];
  const end = watchMembers(folder, () => seen.push(readMembers(folder).map(({ url }) => url)));
  onTestFinished(end);
  const last = () => seen.at(-1);
  const member = announceMember(folder, memberOf("0a", 1));
  await vi.waitFor(() => expect(last()).toEqual(["http://127.0.0.1:1"]), waiting);
  member.update(memberOf("0a", 2));
  await vi.waitFor(() => expect(last()).toEqual(["http://127.0.0.1:2"]), waiting);
  member.end();
  await vi.waitFor(() => expect(last()).toEqual([]), waiting);
});
