/** What a person notices of a page with a long list. */
import type { Browser, Page } from "playwright-core";

export interface MeasuredTab {
  /** Opened first, for access. */
  readonly enter: string;
  /** The page with the link to the list. */
  readonly linkUrl: string;
  /** A selector of the link. */
  readonly link: string;
  /** The address of the list. */
  readonly url: string;
  /** A selector of the rows of the list, which the page with the link does not have. */
  readonly row: string;
}

export interface TabMeasurement {
  /** From a click on the link in the loaded page to the first row. */
  readonly clickMilliseconds: number;
  /** From the navigation to the address of the list to the first row. */
  readonly firstRowsMilliseconds: number;
  /** The longest request of the page for data. */
  readonly listMilliseconds: number;
  /** The heap of the tab after a garbage collection. */
  readonly memoryMebibytes: number;
  readonly framesPerSecond: number;
  readonly slowestFrameMilliseconds: number;
}

const scrollMilliseconds = 3000;
/** What a turn of a mouse wheel sends. */
const wheelPixels = 240;

export async function measureTab(browser: Browser, tab: MeasuredTab): Promise<TabMeasurement> {
  const { enter, linkUrl, link, url, row } = tab;
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    const page = await context.newPage();
    await page.goto(enter);
    await page.addInitScript(observe, row);
    await page.goto(linkUrl);
    // What the page counts or asks for must not slow down the list.
    await quiet(page);
    await page.locator(link).first().click();
    await rowsOf(page);
    const clickMilliseconds = await page.evaluate(
      () =>
        performance.timeOrigin +
        performance.getEntriesByName("first-rows")[0]!.startTime -
        Number(window.name),
    );
    await quiet(page);
    await page.goto(url);
    await rowsOf(page);
    const times = await page.evaluate(() => {
      const requests = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
      return {
        firstRows: performance.getEntriesByName("first-rows")[0]!.startTime,
        list: Math.max(
          0,
          ...requests.filter(({ name }) => name.includes("/api/")).map(({ duration }) => duration),
        ),
      };
    });
    const session = await context.newCDPSession(page);
    await quiet(page);
    await session.send("HeapProfiler.collectGarbage");
    const { usedSize } = await session.send("Runtime.getHeapUsage");
    await page.locator(row).first().hover();
    const frames = page.evaluate(
      (milliseconds) =>
        new Promise<number[]>((resolve) => {
          const gaps: number[] = [];
          let last = performance.now();
          const end = last + milliseconds;
          const step = (now: number): void => {
            gaps.push(now - last);
            last = now;
            if (now < end) requestAnimationFrame(step);
            else resolve(gaps.slice(1));
          };
          requestAnimationFrame(step);
        }),
      scrollMilliseconds,
    );
    const end = performance.now() + scrollMilliseconds;
    while (performance.now() < end) await page.mouse.wheel(0, wheelPixels);
    const gaps = await frames;
    return {
      clickMilliseconds,
      firstRowsMilliseconds: times.firstRows,
      listMilliseconds: times.list,
      memoryMebibytes: usedSize / 1024 ** 2,
      framesPerSecond: (gaps.length / gaps.reduce((sum, gap) => sum + gap, 0)) * 1000,
      slowestFrameMilliseconds: Math.max(...gaps),
    };
  } finally {
    await context.close();
  }
}

/**
 * Marks the first row, and keeps the time of a click in the name of the window, which stays when a
 * link leads to another document.
 */
function observe(row: string): void {
  addEventListener(
    "click",
    ({ timeStamp }) => {
      window.name = String(performance.timeOrigin + timeStamp);
    },
    { capture: true },
  );
  const look = (): void => {
    if (document.querySelector(row) === null) requestAnimationFrame(look);
    else performance.mark("first-rows");
  };
  requestAnimationFrame(look);
}

async function rowsOf(page: Page): Promise<void> {
  await page.waitForFunction(() => performance.getEntriesByName("first-rows").length > 0);
}

/** Until no request has ended for a second. A page with a stream of events is never idle. */
async function quiet(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (let before = -1; ;) {
      const { length } = performance.getEntriesByType("resource");
      if (length === before) return;
      before = length;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  });
}
