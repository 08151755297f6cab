import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { nodeVersionMin, nodeVersionProblem } from "./node-version.ts";

describe("nodeVersionProblem()", () => {
  it.each(["22.13.0", "22.14.1", "24.0.0", "100.1.0"])("accepts Node %s", (version) => {
    expect(nodeVersionProblem(version)).toBeNull();
  });

  it.each(["18.20.0", "20.20.2", "22.12.9"])("refuses Node %s", (version) => {
    expect(nodeVersionProblem(version)).toBe(
      `Ledge needs Node 22.13 or later, and this is Node ${version}. ` +
        "Install a newer Node: https://nodejs.org",
    );
  });

  it("needs the version that package.json declares", () => {
    const path = new URL("../../package.json", import.meta.url);
    const { engines } = JSON.parse(readFileSync(path, "utf8")) as { engines: { node: string } };
    expect(engines.node).toBe(`>=${nodeVersionMin}`);
  });
});
