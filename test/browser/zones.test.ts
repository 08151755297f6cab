/** Zones in a browser: what a person does with zones, records and questions, and what the page shows. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { DnsRecord } from "../../src/explorer/api/zones-api.ts";
import { serveExplorer, type RunningExplorer } from "../../src/explorer/server/start-explorer.ts";
import { credentials } from "../dns/support/client.ts";
import { accessibilityProblems, useBrowser } from "./support/browser.ts";
import { startTestDns, type TestDns } from "../dns/support/running-dns.ts";

const stateFolder = mkdtempSync(join(tmpdir(), "ledge-explorer-browser-"));
const markup = "<img src=x onerror='document.title=1'>";
const hosts = Array.from({ length: 250 }, (_, index) => ({
  type: "A",
  name: `host-${String(index).padStart(3, "0")}`,
  content: `192.0.2.${index}`,
}));
let dns: TestDns;
let explorer: RunningExplorer;
const browser = useBrowser();
let page: Page;
let zoneId: string;

beforeAll(async () => {
  dns = await startTestDns({
    zones: [
      {
        name: "example.org",
        records: [
          { type: "A", name: "www", content: "192.0.2.1", ttl: 120 },
          { type: "CNAME", name: "alias", content: "www.example.org", ttl: 60 },
          { type: "TXT", name: "text", content: markup, comment: markup, tags: ["note:<b>"] },
          {
            type: "SRV",
            name: "_sip._tcp",
            data: { priority: 1, weight: 2, port: 3, target: "a.example" },
          },
        ],
      },
      { name: "large.example", records: hosts },
    ],
  });
  explorer = await serveExplorer(
    { stateFolder, port: 0 },
    {
      dns: async () => ({
        apiUrl: new URL(dns.dns.url).origin,
        addresses: [`127.0.0.1:${dns.port}`],
        headers: credentials,
      }),
    },
  );
  zoneId = ((await dns.client.ok("GET", "/zones?name=example.org")) as { id: string }[])[0]!.id;
});

afterAll(async () => {
  await explorer?.close();
  await dns?.stop();
  rmSync(stateFolder, { recursive: true, force: true, maxRetries: 3 });
});

beforeEach(async () => {
  // The browser mentions the status of a refusal.
  page = await browser.open(explorer.url, { expectedErrors: /\b400\b/ });
});

async function open(path: string): Promise<void> {
  await page.goto(new URL(path, explorer.url).href);
}

function rowOf(name: string): Locator {
  return page.getByRole("row").filter({ hasText: name });
}

async function recordsNamed(name: string): Promise<DnsRecord[]> {
  return (await dns.client.ok("GET", `/zones/${zoneId}/dns_records?name=${name}`)) as DnsRecord[];
}

async function makeRecord(record: Record<string, unknown>): Promise<DnsRecord> {
  return (await dns.client.ok("POST", `/zones/${zoneId}/dns_records`, record)) as DnsRecord;
}

describe("the list of zones", () => {
  it("shows counts, name servers and states, and creates and deletes a zone", async () => {
    await open("/zones");
    await expect.poll(() => rowOf("large.example").innerText()).toContain("250");
    expect(await rowOf("example.org").innerText()).toMatch(/ns1\.ledge\.local[^]*active/);
    await page.keyboard.press("n");
    await page.getByLabel("Name", { exact: true }).fill("bad_name-.");
    await page.getByRole("button", { name: "Create zone" }).click();
    await page.getByText("Invalid zone name. (1001)").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("made.example");
    await page.keyboard.press("Enter");
    await page.getByText("No records yet").waitFor();
    expect(new URL(page.url()).pathname).toBe("/zones/made.example");
    await page.getByRole("button", { name: "Delete zone" }).click();
    const confirm = page.getByRole("dialog").getByRole("button", { name: "Delete zone" });
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByLabel("Type the name of the zone").fill("made.example");
    await confirm.click();
    await page.getByText("The zone made.example was deleted.").waitFor();
    await rowOf("example.org").waitFor();
    expect(await rowOf("made.example").count()).toBe(0);
  });
});

describe("the table of records", () => {
  it("edits a cell in its place, with the rules' own messages, and what was typed stays", async () => {
    await makeRecord({ type: "A", name: "edited", content: "192.0.2.50", ttl: 120 });
    await open("/zones/example.org");
    await rowOf("edited").getByText("192.0.2.50").click();
    const field = page.getByLabel("Content of edited.example.org");
    await field.fill("192.0.2.500");
    await field.press("Enter");
    await page.getByText("Content for A record must be a valid IPv4 address. (9005)").waitFor();
    expect(await field.inputValue()).toBe("192.0.2.500");
    await field.fill("192.0.2.51");
    await field.press("Enter");
    await rowOf("edited").getByText("192.0.2.51").waitFor();
    expect((await recordsNamed("edited.example.org"))[0]?.content).toBe("192.0.2.51");
    // Escape restores, and the focus is in the cell again.
    await page.keyboard.press("Enter");
    await field.fill("192.0.2.52");
    await page.keyboard.press("Escape");
    await field.waitFor({ state: "detached" });
    expect(await rowOf("edited").innerText()).toContain("192.0.2.51");
    // The keyboard goes on to the TTL, which is saved when the field is left.
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.keyboard.type("auto");
    await page.getByLabel("Search names").focus();
    await expect.poll(async () => (await recordsNamed("edited.example.org"))[0]?.ttl).toBe(1);
  });

  it("switches a record between proxied and not, and shows a refusal", async () => {
    await makeRecord({ type: "A", name: "switched", content: "192.0.2.55" });
    await makeRecord({ type: "CNAME", name: "refused", content: "missing.example.org" });
    await open("/zones/example.org");
    const toggle = page.getByRole("switch", { name: "Proxied: switched.example.org" });
    await toggle.click();
    await expect.poll(() => toggle.getAttribute("aria-checked")).toBe("true");
    expect((await recordsNamed("switched.example.org"))[0]?.proxied).toBe(true);
    await rowOf("switched").getByRole("gridcell").nth(5).focus();
    await page.keyboard.press("Space");
    await expect.poll(() => toggle.getAttribute("aria-checked")).toBe("false");
    const other = page.getByRole("switch", { name: "Proxied: refused.example.org" });
    await other.click();
    const message = "Target missing.example.org is not allowed for a proxied record. (9003)";
    await rowOf("refused").getByText(message).waitFor();
    expect(await other.getAttribute("aria-checked")).toBe("false");
  });

  it("deletes a record after ten seconds, unless the deletion is undone", async () => {
    await makeRecord({ type: "A", name: "kept", content: "192.0.2.60" });
    await makeRecord({ type: "A", name: "gone", content: "192.0.2.61" });
    await page.clock.install();
    await open("/zones/example.org");
    await rowOf("kept").getByRole("button", { name: "Delete" }).click();
    await rowOf("kept").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await rowOf("kept").waitFor();
    await rowOf("gone")
      .getByText("192.0.2.61")
      .focus()
      .catch(() => {});
    await rowOf("gone").getByRole("gridcell").nth(1).focus();
    await page.keyboard.press("Delete");
    await rowOf("gone").waitFor({ state: "detached" });
    await page.clock.fastForward(9000);
    expect(await recordsNamed("gone.example.org")).toHaveLength(1);
    await page.clock.fastForward(2000);
    await expect.poll(() => recordsNamed("gone.example.org")).toEqual([]);
    expect(await recordsNamed("kept.example.org")).toHaveLength(1);
  });

  it("sends a deletion that waits when the page is left", async () => {
    await makeRecord({ type: "A", name: "left", content: "192.0.2.62" });
    await open("/zones/example.org?search=left");
    await rowOf("left").getByRole("button", { name: "Delete" }).click();
    await rowOf("left").waitFor({ state: "detached" });
    await page.goto("about:blank");
    await expect.poll(() => recordsNamed("left.example.org")).toEqual([]);
  });

  it("adds a record by the form of its type, in the place of a record that is being deleted", async () => {
    const old = await makeRecord({ type: "A", name: "form", content: "192.0.2.63" });
    await open("/zones/example.org");
    await rowOf("form.example.org").getByRole("button", { name: "Delete" }).click();
    await page.keyboard.press("n");
    await page.getByLabel("Type").selectOption("CNAME");
    await page.getByLabel("Name", { exact: true }).fill("form");
    await page.getByLabel("Target").fill("www.example.org");
    await page.getByRole("button", { name: "Add record" }).click();
    await page.getByText("CNAME form.example.org was added.").waitFor();
    expect((await recordsNamed("form.example.org")).map(({ type }) => type)).toEqual(["CNAME"]);
    expect((await dns.client.call("GET", `/zones/${zoneId}/dns_records/${old.id}`)).status).toBe(
      404,
    );

    await page.getByRole("button", { name: "New record" }).click();
    await page.getByLabel("Type").selectOption("SRV");
    await page.getByLabel("Name", { exact: true }).fill("_xmpp._tcp");
    await page.getByLabel("Port").fill("seven");
    await page.getByLabel("TTL").fill("5");
    await page.getByRole("button", { name: "Add record" }).click();
    await page.getByText("port must be a whole number between 0 and 65535. (9406)").waitFor();
    await page.getByText("target is a required data field. (9101)").waitFor();
    await page.getByText("TTL must be between 60 and 86400 seconds").waitFor();
    expect(await page.getByLabel("Port").inputValue()).toBe("seven");
    await page.getByLabel("Port").fill("5222");
    await page.getByLabel("Target").fill("xmpp.example.org");
    await page.getByLabel("TTL").fill("300");
    await page.getByLabel("Tags", { exact: true }).fill("a:1, b:2");
    await page.getByRole("button", { name: "Add record" }).click();
    await page.getByText("SRV _xmpp._tcp.example.org was added.").waitFor();
    expect((await recordsNamed("_xmpp._tcp.example.org"))[0]).toMatchObject({
      data: { priority: 10, weight: 5, port: 5222, target: "xmpp.example.org" },
      ttl: 300,
      tags: ["a:1", "b:2"],
    });
  });

  it("opens the form of content with fields, at an address of its own", async () => {
    await open("/zones/example.org");
    await rowOf("_sip._tcp").getByText("a.example").click();
    await page.getByLabel("Weight").waitFor();
    expect(page.url()).toMatch(/\?record=[0-9a-f]{32}$/);
    await page.reload();
    await page.getByLabel("Weight").fill("9");
    await page.getByRole("button", { name: "Save" }).click();
    await rowOf("_sip._tcp").getByText("9 3 a.example").waitFor();
    expect(new URL(page.url()).search).toBe("");
  });

  it("searches while a person types, sorts, and shows page after page", async () => {
    await open("/zones/large.example");
    await page.getByText("1–100 of 250 records").waitFor();
    await page.getByRole("button", { name: "Next page" }).click();
    await rowOf("host-199").waitFor();
    expect(new URL(page.url()).search).toBe("?page=2");
    await page.getByRole("button", { name: "Name", exact: false }).first().click();
    await rowOf("host-249").waitFor();
    expect(new URL(page.url()).search).toBe("?sort=-name");
    await page.getByRole("heading", { name: "large.example" }).click();
    await page.keyboard.press("/");
    await page.keyboard.type("host-01");
    await page.getByText("1–10 of 10 records").waitFor();
    expect(await page.getByLabel("Search names").inputValue()).toBe("host-01");
    await page.keyboard.type("zzz");
    await page.getByText("No record matches").waitFor();
  });

  it("shows names that look like HTML as they are", async () => {
    await open("/zones/example.org?search=onerror");
    await expect.poll(() => rowOf("text").innerText()).toContain(markup);
    expect(await rowOf("text").innerText()).toContain("note:<b>");
    expect(await page.locator("main img").count()).toBe(0);
    expect(await page.title()).toContain("example.org");
  });

  it("imports text with remarks and with refusals, and exports the zone", async () => {
    await open("/zones/example.org");
    await page.getByLabel("Search names").waitFor();
    await page.keyboard.press("i");
    await page.getByLabel("Or its text").fill("imported 5 IN A 192.0.2.70\nbroken IN A x");
    await page.getByRole("button", { name: "Import", exact: true }).last().click();
    await page.getByText("Nothing was imported.").waitFor();
    await page.getByText(/^Line 2: /).waitFor();
    await page.getByLabel("Or its text").fill("imported 5 IN A 192.0.2.70");
    await page.getByRole("button", { name: "Import", exact: true }).last().click();
    await page.getByText("1 of 1 records were added.").waitFor();
    await page.getByText("Line 1: TTL 5 was changed to 60").waitFor();
    await page.getByRole("button", { name: "Close" }).last().click();
    await rowOf("imported").waitFor();
    const download = page.waitForEvent("download");
    await page.keyboard.press("e");
    expect((await download).suggestedFilename()).toBe("example.org.zone");
  });

  it("shows the serial, which a change moves on, and turns DNSSEC on and off", async () => {
    await open("/zones/example.org");
    const serial = page.locator(".zone-facts dd").first();
    await expect.poll(() => serial.innerText()).toMatch(/^\d+$/);
    const before = await serial.innerText();
    await page.getByRole("button", { name: "Turn on" }).click();
    await page.getByText(/^example\.org\. 3600 IN DS \d+ 13 2 /).waitFor();
    await page.getByRole("button", { name: "Turn off" }).click();
    await page.getByRole("button", { name: "Turn on" }).waitFor();
    await rowOf("www").getByText("120").click();
    await page.keyboard.type("240");
    await page.keyboard.press("Enter");
    await expect.poll(() => serial.innerText()).not.toBe(before);
  });
});

describe("a question", () => {
  it("is asked from a record, and answered with the rules and the way to their records", async () => {
    await open("/zones/example.org?search=alias");
    await rowOf("alias").getByRole("link", { name: "Ask" }).click();
    await page.getByText(";; alias.example.org. CNAME: NOERROR").waitFor();
    await page.getByLabel("Type").fill("a");
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await page
      .getByText("alias.example.org is a CNAME: the answer continues at its target")
      .waitFor();
    expect(new URL(page.url()).search).toBe("?name=alias.example.org");
    await page.goBack();
    await page.getByText(";; alias.example.org. CNAME: NOERROR").waitFor();
    expect(await page.getByLabel("Type").inputValue()).toBe("CNAME");
    await page.goForward();
    await page.getByRole("link", { name: "Show the records" }).last().click();
    await rowOf("192.0.2.1").first().waitFor();
    expect(new URL(page.url()).search).toBe("?search=www.example.org");
  });

  it("that cannot be asked is explained", async () => {
    page = await browser.open(explorer.url, { expectedErrors: /\b422\b/ });
    await open("/lookup?name=www.example.org&type=AAA");
    const alert = page.getByRole("alert");
    await expect.poll(() => alert.innerText()).toContain('There is no record type "AAA".');
  });
});

describe("accessibility", () => {
  it.each(["/zones", "/zones/example.org", "/lookup?name=www.example.org", "/lookup"])(
    "of %s has no violations, in light and dark, wide and narrow",
    async (path) => {
      for (const colorScheme of ["light", "dark"] as const) {
        for (const width of [1280, 340]) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height: 740 });
          await open(path);
          await page.waitForLoadState("networkidle");
          expect(await accessibilityProblems(page)).toEqual([]);
          const isWide = "document.documentElement.scrollWidth > innerWidth";
          expect(await page.evaluate(isWide)).toBe(false);
        }
      }
    },
  );

  it("of the form of a record has no violations", async () => {
    await open("/zones/example.org");
    await page.getByRole("button", { name: "New record" }).click();
    expect(await accessibilityProblems(page)).toEqual([]);
  });
});
