/** Chromium for the tests of one file. A page whose console has an error fails its test. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { findChromium } from "./chromium.ts";

export interface TestBrowser {
  /** A page with cookies of its own, which is closed after the test. */
  open(url: string, options?: OpenOptions): Promise<Page>;
}

interface OpenOptions extends BrowserContextOptions {
  /** Errors on the console that the test expects. */
  readonly expectedErrors?: RegExp;
}

/** The longest time for an action or a wait on a busy machine. */
const actionMilliseconds = 90_000;

export function useBrowser(): TestBrowser {
  let browser: Browser;
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
      await page.context().close();
      expect(errors).toEqual([]);
    }
  });
  afterAll(() => browser?.close());
  return {
    async open(url, { expectedErrors = /(?!)/, ...options } = {}) {
      const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        permissions: ["clipboard-read", "clipboard-write"],
        ...options,
      });
      context.setDefaultTimeout(actionMilliseconds);
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

const axePath = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/** What axe-core finds in the page as it is: a line for each violation. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  // The policy of the page allows no foreign scripts; the protocol of the browser's devtools does.
  const session = await page.context().newCDPSession(page);
  const run =
    `${readFileSync(axePath, "utf8")};` +
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
