/** The command that gives one program files of its own. */
import { expect, it } from "vitest";
import { hostsText, launchWords } from "./private-mounts.ts";

const files = [
  { source: "/tmp/hosts", path: "/etc/hosts" },
  { source: "/tmp/all.pem", path: "/etc/ssl/certs/ca-certificates.crt" },
];
const mounts = ["/tmp/hosts", "/etc/hosts", "/tmp/all.pem", "/etc/ssl/certs/ca-certificates.crt"];

it("launchWords() needs a mount namespace only for root", () => {
  const words = launchWords(["client", "-v"], files, { userId: 0, groupId: 0 });
  expect(words.slice(0, 4)).toEqual(["unshare", "--mount", "--", "sh"]);
  expect(words.slice(6)).toEqual(["sh", ...mounts, "--", "client", "-v"]);
});

it("launchWords() gives any other user the user's own id again", () => {
  const words = launchWords(["client"], files, { userId: 1000, groupId: 100 });
  expect(words.slice(0, 5)).toEqual(["unshare", "--user", "--map-root-user", "--mount", "--"]);
  expect(words.slice(-6)).toEqual([
    "unshare",
    "--user",
    "--map-user=1000",
    "--map-group=100",
    "--",
    "client",
  ]);
});

it("hostsText() puts the names before the lines of the system", () => {
  expect(hostsText("127.0.0.1 localhost\n", "127.0.0.2", ["a.test", "b.test"])).toBe(
    "127.0.0.2 a.test\n127.0.0.2 b.test\n127.0.0.1 localhost\n",
  );
});
