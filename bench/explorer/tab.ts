/** What a person notices of a page with a long list. */
import type { Browser } from "playwright-core";

export interface MeasuredTab {
  /** Opened first, for access. */
  readonly enter: string;
  readonly url: string;
  /** A selector of the rows. */
  readonly row: string;
}

export interface TabMeasurement {
  /** From the navigation to the first row. */
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

export async function measureTab(
  browser: Browser,
  { enter, url, row }: MeasuredTab,
): Promise<TabMeasurement> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    const page = await context.newPage();
    await page.goto(enter);
    await page.addInitScript((selector) => {
      const look = (): void => {
        if (document.querySelector(selector) === null) requestAnimationFrame(look);
        else performance.mark("first-rows");
      };
      requestAnimationFrame(look);
    }, row);
    await page.goto(url);
    await page.waitForFunction(() => performance.getEntriesByName("first-rows").length > 0);
    const times = await page.evaluate(() => {
      const requests = performance.getEntriesByType("resource") as PerformanceResourceTiming[];
      return {
        firstRows: performance.getEntriesByName("first-rows")[0]!.startTime,
        list: Math.max(
          0,
          ...requests
            .filter(({ initiatorType }) => initiatorType === "fetch")
            .map(({ duration }) => duration),
        ),
      };
    });
    const session = await context.newCDPSession(page);
    await page.waitForLoadState("networkidle").catch(() => {});
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
