/** Zones in a browser: what a person does with zones, records and lookups, and what the page shows. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DnsRecord } from "../../src/explorer/api/zones-api.ts";
import type { DnsAccess } from "../../src/explorer/server/call.ts";
import { serveExplorer, type RunningExplorer } from "../../src/explorer/server/start-explorer.ts";
import { credentials } from "../dns/support/client.ts";
import { startTestDns, type TestDns } from "../dns/support/running-dns.ts";
import { accessibilityProblems, useBrowser } from "./support/browser.ts";

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
      { name: "busy.example", records: hosts.slice(0, 90) },
      { name: "2.0.192.in-addr.arpa", records: [{ type: "PTR", name: "1", content: "a.example" }] },
    ],
  });
  const access: DnsAccess = {
    apiUrl: new URL(dns.dns.url).origin,
    addresses: [`127.0.0.1:${dns.port}`],
    headers: credentials,
  };
  explorer = await serveExplorer(
    { stateFolder, port: 0 },
    { dns: async () => access, runningDns: async () => access },
  );
  zoneId = await idOf("example.org");
});

afterAll(async () => {
  await explorer?.close();
  await dns?.stop();
  rmSync(stateFolder, { recursive: true, force: true, maxRetries: 3 });
});

/** Another tab. */
async function open(place: string): Promise<Page> {
  // The browser mentions the status of a refusal.
  const expectedErrors = /\b(?:400|404|412|422|500)\b/;
  page = await browser.open(explorer.url, { place, expectedErrors });
  return page;
}

/** Every place is below the path that the link leads to. */
function shownPlace(): string {
  const { pathname, search } = new URL(page.url());
  return `${pathname.replace(/^\/~[^/]+/, "")}${search}`;
}

function rowOf(name: string): Locator {
  return page.getByRole("row").filter({ hasText: name });
}

async function choose(row: Locator, item: string): Promise<void> {
  await row.getByRole("button", { name: /^Actions of/ }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

const dialog = (): Locator => page.getByRole("dialog");
const field = (label: string): Locator => dialog().getByLabel(label, { exact: true });
const press = (name: string): Promise<void> => dialog().getByRole("button", { name }).click();

async function idOf(zone: string): Promise<string> {
  return ((await dns.client.ok("GET", `/zones?name=${zone}`)) as { id: string }[])[0]!.id;
}

async function recordsNamed(name: string): Promise<DnsRecord[]> {
  return (await dns.client.ok("GET", `/zones/${zoneId}/dns_records?name=${name}`)) as DnsRecord[];
}

async function makeRecord(name: string, zone = zoneId): Promise<DnsRecord> {
  const record = { type: "A", name, content: "192.0.2.50", ttl: 120 };
  return (await dns.client.ok("POST", `/zones/${zone}/dns_records`, record)) as DnsRecord;
}

/** The server follows the record API soon after a page is opened: changes are shown from then on. */
async function followed(name: string, zone: string): Promise<void> {
  let count = 0;
  const change = async (): Promise<number> => {
    await makeRecord(`${name}-${count++}`, zone);
    return rowOf(`${name}-`).count();
  };
  await expect.poll(change, { timeout: 60_000, interval: 1000 }).toBeGreaterThan(0);
}

async function focusedText(): Promise<unknown> {
  return page.evaluate(
    "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent",
  );
}

describe("the list of zones", () => {
  it("shows counts, name servers and states, and creates and deletes a zone", async () => {
    await open("/zones");
    await expect.poll(() => rowOf("large.example").innerText()).toContain("250");
    expect(await rowOf("example.org").innerText()).toMatch(/ns1\.ledge\.local[^]*active/);
    await page.getByText("4 zones").waitFor();
    await page.keyboard.press("n");
    await field("Name").fill("bad_name-.");
    await press("Create zone");
    await page.getByText("Invalid zone name. (1001)").waitFor();
    await field("Name").fill("made.example");
    await page.keyboard.press("Enter");
    await page.getByText("No records yet").waitFor();
    expect(shownPlace()).toBe("/zones/made.example");
    await page.getByRole("button", { name: "Actions of made.example" }).click();
    await page.getByRole("menuitem", { name: "Delete zone" }).click();
    const confirm = dialog().getByRole("button", { name: "Delete zone" });
    expect(await confirm.isDisabled()).toBe(true);
    await field("Type the name of the zone").fill("made.example");
    await confirm.click();
    await page.getByText("The zone made.example was deleted.").waitFor();
    await rowOf("example.org").waitFor();
    await rowOf("made.example").waitFor({ state: "detached" });
  });
});

describe("the form of a record", () => {
  it("adds a record of any type by its content, with the server's examples and messages", async () => {
    await open("/zones/example.org");
    await rowOf("www").first().waitFor();
    await page.keyboard.press("n");
    await field("Type").selectOption("SRV");
    await page.getByText("Example: 5 5060 sip.example.com").waitFor();
    await field("Name").fill("_xmpp._tcp");
    await field("Content").fill("5 5222");
    await field("TTL").fill("5");
    await press("Add record");
    await page.getByText(/too few or too many words\. .* looks like: 5 5060/).waitFor();
    await field("Content").fill("5 seven xmpp.example.org");
    await press("Add record");
    await page.getByText("port must be a whole number between 0 and 65535. (9406)").waitFor();
    await page.getByText("TTL must be between 60 and 86400 seconds").waitFor();
    expect(await field("Content").inputValue()).toBe("5 seven xmpp.example.org");
    await field("Content").fill("5 5222 xmpp.example.org");
    await field("TTL").fill("300");
    await field("Tags").fill("a:1, b:2");
    await press("Add record");
    await page.getByText("SRV _xmpp._tcp.example.org was added.").waitFor();
    await rowOf("_xmpp._tcp").getByText("5 5222 xmpp.example.org").waitFor();
    expect((await recordsNamed("_xmpp._tcp.example.org"))[0]).toMatchObject({
      data: { priority: 10, weight: 5, port: 5222, target: "xmpp.example.org" },
      ttl: 300,
      tags: ["a:1", "b:2"],
    });
  });

  it("changes every value of a record, at an address of its own", async () => {
    const { id } = await makeRecord("edited");
    await open("/zones/example.org");
    await rowOf("edited").getByRole("link").click();
    await field("Content").waitFor();
    expect(shownPlace()).toBe(`/zones/example.org?record=${id}`);
    await page.reload();
    await field("Type").selectOption("CNAME");
    await field("Content").fill("www.example.org");
    await dialog().getByLabel("Proxied").check();
    expect(await field("TTL").isDisabled()).toBe(true);
    await field("Comment").fill("<b>");
    await press("Save");
    await rowOf("edited").getByText("<b>").waitFor();
    expect(shownPlace()).toBe("/zones/example.org");
    const changed = { type: "CNAME", content: "www.example.org", proxied: true, ttl: 1 };
    expect((await recordsNamed("edited.example.org"))[0]).toMatchObject({ id, ...changed });
    await open("/zones/example.org?record=00000000000000000000000000000000");
    await dialog().getByText("Record does not exist.").waitFor();
  });

  it("is sent by Enter in the content, and by Ctrl+Enter in the text of an import", async () => {
    await open("/zones/example.org?record=new");
    await field("Name").fill("entered");
    await field("Content").fill("192.0.2.80");
    await page.keyboard.press("Enter");
    await page.getByText("A entered.example.org was added.").waitFor();
    await page.keyboard.press("i");
    await field("Or its text").fill("entered-1 IN A 192.0.2.81");
    await page.keyboard.press("Enter");
    await page.keyboard.type("entered-2 IN A 192.0.2.82");
    await page.keyboard.press("Control+Enter");
    await page.getByText("Added 2 of 2 records.").waitFor();
    expect(await recordsNamed("entered-2.example.org")).toHaveLength(1);
  });

  it("says that the types of records cannot be loaded, and tries again", async () => {
    const types = /\/api\/record-types$/;
    await open("/zones/example.org");
    await page.route(types, (route) => route.fulfill({ status: 500, body: "" }));
    await page.getByRole("button", { name: "New record" }).click();
    await dialog().getByText("The explorer answered with the status 500.").waitFor();
    await page.unroute(types);
    await press("Try again");
    await field("Type").waitFor();
    expect(await page.evaluate("document.activeElement.tagName")).toBe("SELECT");
  });

  it("refuses to overwrite a change of another client, and loads the new values", async () => {
    const { id } = await makeRecord("met");
    await open(`/zones/example.org?record=${id}`);
    await field("Comment").fill("mine");
    const theirs = { content: "192.0.2.51", comment: "theirs" };
    await dns.client.ok("PATCH", `/zones/${zoneId}/dns_records/${id}`, theirs);
    await press("Save");
    await page.getByText("The record was changed after you opened it.").waitFor();
    expect(await field("Comment").inputValue()).toBe("mine");
    expect((await recordsNamed("met.example.org"))[0]?.comment).toBe("theirs");
    await press("Load the new values");
    await expect.poll(() => field("Comment").inputValue()).toBe("theirs");
    expect(await field("Content").inputValue()).toBe("192.0.2.51");
    await field("Comment").fill("both");
    await press("Save");
    await rowOf("met").getByText("both").waitFor();
  });

  it("has the focus in its first field, and gives the focus back to its opener", async () => {
    await open("/zones/example.org");
    const row = rowOf("www.example.org").first();
    const openers = [page.getByRole("button", { name: "New record" }), row.getByRole("link")];
    const zoneMenu = page.getByRole("button", { name: "Actions of example.org" });
    const focusedLabel = "document.activeElement.labels?.[0]?.textContent";
    for (const opener of openers) {
      await opener.focus();
      const before = await focusedText();
      await page.keyboard.press("Enter");
      await expect.poll(() => page.evaluate(focusedLabel)).toBe("Type");
      await page.keyboard.press("Escape");
      await dialog().waitFor({ state: "detached" });
      expect(await focusedText()).toBe(before);
    }
    for (const [opener, item, first] of [
      [row.getByRole("button"), "Edit", "Type"],
      [zoneMenu, "Import", "Zone file"],
      [zoneMenu, "Delete", "Type the name of the zone"],
    ] as const) {
      await opener.click();
      await page.getByRole("menuitem", { name: item }).click();
      await expect.poll(() => page.evaluate(focusedLabel)).toBe(first);
      await page.keyboard.press("Escape");
      await dialog().waitFor({ state: "detached" });
      expect(await focusedText()).toBe(await opener.getAttribute("aria-label"));
    }
  });
});

describe("the table of records", () => {
  it("has the columns that records fill, and fits a window of 1280 pixels", async () => {
    await open("/zones/example.org?search=192.0.2.1");
    await rowOf("www").waitFor();
    expect(await page.getByRole("columnheader").allInnerTexts()).toEqual([
      "Type",
      "Name",
      "Content",
      "TTL",
      "Actions",
    ]);
    await open("/zones/example.org");
    await rowOf("_sip._tcp").waitFor();
    const heads = await page.getByRole("columnheader").allInnerTexts();
    expect(heads).toEqual(expect.arrayContaining(["Priority", "Comment"]));
    const isWide =
      "document.querySelector('main').scrollWidth > document.querySelector('main').clientWidth";
    for (const width of [1280, 844]) {
      await page.setViewportSize({ width, height: 800 });
      expect(await page.evaluate(isWide)).toBe(false);
    }
  });

  it("deletes a record after ten seconds, and the next record has the focus", async () => {
    await makeRecord("gone-1");
    await makeRecord("gone-2");
    await open("/zones/example.org?search=gone");
    await rowOf("gone-1").getByRole("link").focus();
    await page.keyboard.press("Delete");
    await rowOf("gone-1").getByText("Deleting…").waitFor();
    await page.getByText("Deleting A gone-1.example.org").first().waitFor();
    expect(await recordsNamed("gone-1.example.org")).toHaveLength(1);
    await rowOf("gone-1").waitFor({ state: "detached" });
    expect(await recordsNamed("gone-1.example.org")).toEqual([]);
    await page.getByText("Deleted 1 record.").waitFor();
    await expect.poll(focusedText).toBe("gone-2.example.org");
  });

  it("keeps a record whose deletion is undone after a reload", async () => {
    await makeRecord("kept");
    await open("/zones/example.org?search=kept");
    await choose(rowOf("kept"), "Delete");
    await rowOf("kept").getByText("Deleting…").waitFor();
    await page.reload();
    await page.getByRole("list", { name: "Tasks" }).getByRole("button", { name: "Undo" }).click();
    await page.getByText("Cancelled: no record was deleted.").waitFor();
    await rowOf("kept").getByRole("button", { name: "Actions of" }).waitFor();
    expect(await recordsNamed("kept.example.org")).toHaveLength(1);
  });

  it("searches while a person types, sorts, and shows page after page", async () => {
    await open("/zones/large.example");
    await page.getByText("1–100 of 250 records").waitFor();
    await page.getByRole("button", { name: "Next page" }).click();
    await rowOf("host-199").waitFor();
    expect(shownPlace()).toBe("/zones/large.example?page=2");
    await page.getByRole("button", { name: "Name" }).click();
    await rowOf("host-249").waitFor();
    expect(shownPlace()).toBe("/zones/large.example?sort=-name");
    await page.getByRole("heading", { name: "large.example" }).click();
    await page.keyboard.press("/");
    await page.keyboard.type("host-01");
    await page.getByText("10 records found").waitFor();
    await page.keyboard.type("zzz");
    await page.getByText("No record found").waitFor();
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
    await rowOf("www").first().waitFor();
    await page.keyboard.press("i");
    await field("Or its text").fill("imported 5 IN A 192.0.2.70\nbroken IN A x");
    await press("Import");
    await page.getByText("Nothing was imported.").waitFor();
    await page.getByText(/^Line 2: /).waitFor();
    await field("Or its text").fill("imported 5 IN A 192.0.2.70");
    await press("Import");
    await page.getByText("Added 1 of 1 record.").waitFor();
    await page.getByText("Line 1: TTL 5 was changed to 60").waitFor();
    await dialog().getByRole("button", { name: "Close" }).last().click();
    await rowOf("imported").waitFor();
    const download = page.waitForEvent("download");
    await page.keyboard.press("e");
    expect((await download).suggestedFilename()).toBe("example.org.zone");
  });
});

describe("changes of other programs", () => {
  it("are shown without a touch, and leave the scroll, the focus and an open form alone", async () => {
    const busy = await idOf("busy.example");
    await open("/zones/busy.example");
    await followed("a", busy);
    await rowOf("host-080").getByRole("link").focus();
    const top = async () => (await rowOf("host-080").boundingBox())?.y;
    const before = await top();
    await makeRecord("b", busy);
    await rowOf("b.busy.example").waitFor();
    expect(await top()).toBe(before);
    expect(await focusedText()).toBe("host-080.busy.example");

    await page.keyboard.press("Enter");
    await field("Comment").fill("typed");
    await makeRecord("c", busy);
    await rowOf("c.busy.example").waitFor();
    expect(await field("Comment").inputValue()).toBe("typed");
  });

  it("are counted in the list of zones, and move the serial", async () => {
    await open("/zones/busy.example");
    await followed("d", await idOf("busy.example"));
    await page.getByRole("link", { name: "Zones" }).first().click();
    await rowOf("example.org").waitFor();
    await dns.client.ok("POST", "/zones", { name: "new.example" });
    await rowOf("new.example").getByText("0", { exact: true }).waitFor();
    const id = await idOf("new.example");
    await makeRecord("first", id);
    await rowOf("new.example").getByText("1", { exact: true }).waitFor();
    await open("/zones/new.example");
    const serial = page.locator(".zone-facts dd").first();
    await expect.poll(() => serial.innerText()).toMatch(/^\d+$/);
    const before = await serial.innerText();
    await makeRecord("second", id);
    await expect.poll(() => serial.innerText()).not.toBe(before);
    await dns.client.ok("DELETE", `/zones/${id}`);
    await page.getByText("Zone new.example not found").waitFor();
  });
});

it("two tabs show the same records, and a deletion of one tab is undone in the other", async () => {
  const other = await open("/zones/example.org?search=shared");
  await open("/zones/example.org?search=shared");
  await page.getByRole("button", { name: "New record" }).click();
  await field("Name").fill("shared");
  await field("Content").fill("192.0.2.60");
  await page.keyboard.press("Enter");
  await choose(rowOf("shared"), "Delete");
  await other.getByText("Deleting…").waitFor();
  await other.getByRole("button", { name: "Undo" }).click();
  await rowOf("shared").getByRole("button", { name: "Actions of" }).waitFor();
  expect(await recordsNamed("shared.example.org")).toHaveLength(1);
});

it("the facts of a zone have the DS record while DNSSEC is on", async () => {
  await open("/zones/example.org");
  await page.getByRole("button", { name: "Turn on" }).click();
  const facts = page.locator(".zone-facts");
  await expect.poll(() => facts.innerText()).toMatch(/example\.org\. 3600 IN DS \d+ 13 2 /);
  await page.getByRole("button", { name: "Turn off" }).click();
  await page.getByRole("button", { name: "Turn on" }).waitFor();
});

describe("a lookup", () => {
  it("begins at a record, and its answer leads to records", async () => {
    await open("/zones/example.org?search=alias");
    await choose(rowOf("alias"), "Look up");
    await page.getByText(";; alias.example.org. CNAME: NOERROR").waitFor();
    await page.getByLabel("Type").selectOption("A");
    await page.getByRole("button", { name: "Look up" }).click();
    await page
      .getByText("alias.example.org is a CNAME: the answer continues at its target")
      .waitFor();
    expect(shownPlace()).toBe("/lookup?name=alias.example.org&type=A");
    await page.goBack();
    await page.getByText(";; alias.example.org. CNAME: NOERROR").waitFor();
    expect(await page.getByLabel("Type").inputValue()).toBe("CNAME");
    await page.goForward();
    const answers = page.getByRole("list", { name: "Records of the answer" });
    await answers.getByRole("link", { name: "www.example.org" }).click();
    await rowOf("192.0.2.1").first().waitFor();
    expect(shownPlace()).toBe("/zones/example.org?search=www.example.org");
  });

  it("of an address asks for its PTR, also at the address of older links", async () => {
    await open("/lookup?name=192.0.2.1");
    await page.getByText(";; 1.2.0.192.in-addr.arpa. PTR: NOERROR").waitFor();
    await page.getByRole("link", { name: "DNS lookup" }).click();
    await page.getByText("No lookup yet").waitFor();
    await page.getByLabel("Name, or an IP address").fill("192.0.2.9");
    await page.keyboard.press("Enter");
    await page.getByText("Not found: the answer has no records.").waitFor();
    expect(shownPlace()).toBe("/lookup?name=192.0.2.9");
  });

  it("that cannot be made is explained", async () => {
    await open("/lookup?name=www.example.org&type=AAA");
    const alert = page.getByRole("alert");
    await expect.poll(() => alert.innerText()).toContain('There is no record type "AAA".');
  });
});

describe("accessibility", () => {
  it.each([
    ["/zones", "ns1.ledge.local"],
    ["/zones/example.org", "192.0.2.1"],
    ["/lookup?name=www.example.org", "NOERROR"],
    ["/lookup", "No lookup yet"],
  ])("of %s has no violations, light and wide, dark and narrow", async (path, text) => {
    await open(path);
    await page.locator("main").getByText(text).last().waitFor();
    for (const [colorScheme, width] of [["light", 1280] as const, ["dark", 320] as const]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 740 });
      expect(await accessibilityProblems(page)).toEqual([]);
      const isWide = "document.documentElement.scrollWidth > innerWidth";
      expect(await page.evaluate(isWide)).toBe(false);
    }
  });

  it("of the form of a record has no violations", async () => {
    await open("/zones/example.org?record=new");
    await field("Content").waitFor();
    expect(await accessibilityProblems(page)).toEqual([]);
  });
});
