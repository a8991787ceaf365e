import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { TestBrowser } from '../test/support/browser.ts';
import { childrenOf, cpuTime } from './cpu.ts';

export interface Drawing {
  /** Seconds, of all processes of the browser. */
  readonly cpu: number;
  /** Bytes of JavaScript objects after a garbage collection. */
  readonly heap: number;
}

interface Limits {
  /** Seconds of CPU after which a page that is still busy counts as not drawn. */
  readonly most: number;
  /** For what else is read from a drawn page. */
  readonly read?: (page: Page) => Promise<void>;
}

/** Milliseconds of a window, and microseconds of CPU that an idle browser takes in it at most. */
const IDLE = { window: 1_000, most: 30_000 };

/** Windows in which an idle page may still be empty, because it waits for a server. */
const PATIENCE = 5;

/** On a busy machine a page that waits for a processor takes no CPU either, but is not idle. */
const MAIN_THREAD = 'new Promise((done) => requestIdleCallback(() => done(true)))';

export class Drawer {
  readonly #browser: TestBrowser;
  readonly #pid: number;

  private constructor(browser: TestBrowser, pid: number) {
    this.#browser = browser;
    this.#pid = pid;
  }

  static async start(): Promise<Drawer> {
    const others = new Set(childrenOf(process.pid));
    const browser = await TestBrowser.start();
    return new Drawer(browser, childrenOf(process.pid).find((pid) => !others.has(pid))!);
  }

  /**
   * In a new context, so with empty caches, until the page is idle and the expression `isDrawn` is
   * true. `null` if it does not become true.
   */
  async draw(url: string, isDrawn: string, { most, read }: Limits): Promise<Drawing | null> {
    const { page } = await this.#browser.page();
    try {
      const before = await this.#idle(page, Number.POSITIVE_INFINITY);
      if (before === null) return null;
      await page.goto(url, { waitUntil: 'commit', timeout: 0 });
      for (let i = 0; i < PATIENCE; i++) {
        const after = await this.#idle(page, before + 1e6 * most);
        if (after === null) return null;
        if (!(await page.evaluate(isDrawn))) continue;
        const cpu = (after - before) / 1e6;
        const heap = await heapOf(page);
        await read?.(page);
        return { cpu, heap };
      }
      return null;
    } finally {
      await page.context().close();
    }
  }

  async stop(): Promise<void> {
    await this.#browser.stop();
  }

  /** Microseconds of CPU at the start of the first idle window; `null` after `most`. */
  async #idle(page: Page, most: number): Promise<number | null> {
    let start = cpuTime(this.#pid);
    while (start < most) {
      await sleep(IDLE.window);
      const isFree = await Promise.race([page.evaluate(MAIN_THREAD), sleep(IDLE.window, false)]);
      const spent = cpuTime(this.#pid) - start;
      // The sum falls if a process of the page before ends.
      if (isFree && spent >= 0 && spent <= IDLE.most) return start;
      start += spent;
    }
    return null;
  }
}

async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize;
}
