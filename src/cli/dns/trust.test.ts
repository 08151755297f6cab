/** How to trust an authority: the commands, with the path of the certificate. */
import { expect, it } from "vitest";
import { describeSteps, trustSteps } from "./trust.ts";

const name = "Ledge local authority 0123abcd";

it("trustSteps() names the certificate to every system and program", () => {
  const steps = trustSteps({ path: "/state/authority.pem", name });
  expect(steps.map(({ id }) => id)).toEqual([
    "debian",
    "fedora",
    "opensuse",
    "arch",
    "macos",
    "windows",
    "node",
    "python",
    "curl",
    "java",
  ]);
  for (const { id, commands } of steps) {
    expect(commands.join("\n"), `the commands of ${id}`).toContain("/state/authority.pem");
  }
});

it("trustSteps() quotes the path for a shell, and keeps authorities apart by their names", () => {
  const [debian] = trustSteps({ path: "/it's/authority.pem", name });
  expect(debian?.commands[0]).toBe(
    String.raw`sudo install -m 644 '/it'\''s/authority.pem' ` +
      "/usr/local/share/ca-certificates/ledge-local-authority-0123abcd.crt",
  );
});

it("describeSteps() shows how the trust is taken back as comments", () => {
  const undo = ["rm x"];
  expect(describeSteps([{ id: "a", title: "System", commands: ["cp x"], undo }])).toBe(
    "System:\n  cp x\n  # to take it back:\n  # rm x",
  );
});
