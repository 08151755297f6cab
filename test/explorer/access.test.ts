/** Who may use the explorer: its own page with the token, at a loopback name. */
import { describe, expect, it } from "vitest";
import { useExplorer } from "./support/explorer.ts";

const used = useExplorer({ buckets: ["photos"] });

describe("access to the explorer", () => {
  it("is given by the printed link, as a strict cookie and an address without the token", async () => {
    const response = await fetch(used.explorer.url, { redirect: "manual" });
    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe("/");
    expect(response.headers.get("set-cookie")).toMatch(/HttpOnly; SameSite=Strict/);
    expect((await used.fetch("/")).status).toBe(200);
  });

  it("is refused without the token, with a page that says what to do", async () => {
    const response = await fetch(`${used.origin}/buckets`);
    expect(response.status).toBe(401);
    expect(await response.text()).toContain("Open the link that the command prints");
  });
});
