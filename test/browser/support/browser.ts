/** Chromium for the tests of one file. A page whose console has an error fails its test. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type Page,
} from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { openExplorerLink } from "../../support/explorer-access.ts";
import { findChromium } from "./chromium.ts";

export interface TestBrowser {
  /**
   * A page that is closed after the test. Pages of the same link and options share their cookies and
   * the browser's cache, as the tabs of a person do.
   *
   * @param link of an explorer, or any other address
   */
  open(link: string, options?: OpenOptions): Promise<Page>;
}

interface OpenOptions extends BrowserContextOptions {
  /** Where the page opens, with the cookie of the explorer's link. Without a place, the link is opened. */
  readonly place?: string;
  /** Errors on the console that the test expects. */
  readonly expectedErrors?: RegExp;
}

/** The longest time for an action or a wait on a busy machine. */
const actionMilliseconds = 90_000;

export function useBrowser(): TestBrowser {
  let browser: Browser;
  const contexts = new Map<string, Promise<BrowserContext>>();
  const opened: { readonly page: Page; readonly errors: string[] }[] = [];
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: findChromium(),
      // In a container there is no user for a sandbox; the pages are our own.
      args: ["--no-sandbox"],
    });
  });
  afterEach(async () => {
    for (const { page, errors } of opened.splice(0)) {
      // A page that has met no server has no storage.
      await page.evaluate(() => localStorage.clear()).catch(() => {});
      await page.close();
      expect(errors).toEqual([]);
    }
  });
  afterAll(() => browser?.close());

  async function makeContext(options: BrowserContextOptions): Promise<BrowserContext> {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      permissions: ["clipboard-read", "clipboard-write"],
      ...options,
    });
    context.setDefaultTimeout(actionMilliseconds);
    return context;
  }

  return {
    async open(link, { expectedErrors = /(?!)/, place, ...options } = {}) {
      const key = JSON.stringify([link, options]);
      if (!contexts.has(key)) contexts.set(key, makeContext(options));
      const context = (await contexts.get(key)) as BrowserContext;
      const url = place === undefined ? link : await placeOf(context, link, place);
      const page = await context.newPage();
      const errors: string[] = [];
      const add = (text: string): void => {
        if (!expectedErrors.test(text)) errors.push(text);
      };
      page.on("console", (message) => {
        if (message.type() === "error") add(`${message.text()} ${message.location().url}`);
      });
      page.on("pageerror", (error) => add(error.message));
      opened.push({ page, errors });
      await page.goto(url);
      return page;
    },
  };
}

/** The address of a place, for a browser that has the cookie then. */
async function placeOf(context: BrowserContext, link: string, place: string): Promise<string> {
  const { address, cookie } = await openExplorerLink(link);
  const [name, value] = cookie.split("=") as [string, string];
  await context.addCookies([{ name, value, url: `${address}/` }]);
  return `${address}${place}`;
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core finds in the page as it is: a line for each violation. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  // The policy of the page allows no foreign scripts; the protocol of the browser's devtools does.
  const session = await page.context().newCDPSession(page);
  const run =
    `${axe};` +
    `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>` +
    `violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) =>` +
    `id + ": " + html.slice(0, 200) + " " + failureSummary)))`;
  const { result, exceptionDetails } = await session.send("Runtime.evaluate", {
    expression: run,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
  return result.value as string[];
}
