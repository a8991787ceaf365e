/**
 * What an open console costs a gateway: CPU with the Overview open in Chromium, less that of the
 * same gateway without it.
 *
 *     node --disable-warning=ExperimentalWarning bench/console.ts --before b1eaf51d
 *
 * All gateways are measured at the same time. `--before` measures a commit, too. No admin token is
 * set, so the console asks for none.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { TestBrowser } from '../test/support/browser.ts';
import { wakeUps } from './cpu.ts';
import { readOptions } from './options.ts';
import { checkouts, withSurroundings } from './surroundings.ts';
import { printHead, printRow } from './table.ts';
import { prepareStoregate } from './targets/storegate-process.ts';

const MINUTE = 60_000;

const { before } = readOptions({ before: null });
await withSurroundings(async (surroundings) => {
  const { children } = surroundings;
  const gateways: { name: string; pid: number; console: string }[] = [];
  for (const { name, folder: project } of checkouts(before, children.folder)) {
    const { command, adminUrl } = await prepareStoregate(name, surroundings, { project });
    const { pid } = await children.start(command);
    gateways.push({ name, pid, console: `${adminUrl}/console/` });
  }

  /** Milliseconds of CPU in a minute of each, after one for what only a start needs. */
  async function measure(): Promise<number[]> {
    await pause(MINUTE);
    const first = gateways.map(({ pid }) => wakeUps(pid).nanoseconds);
    await pause(MINUTE);
    return gateways.map(({ pid }, i) => (wakeUps(pid).nanoseconds - first[i]!) / 1e6);
  }

  const idle = await measure();
  const browser = await TestBrowser.start();
  try {
    for (const { console: url } of gateways) {
      const { page } = await browser.page();
      await page.goto(url);
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
    }
    const open = await measure();
    printHead('CPU ms per minute', 'idle', 'open', 'the view');
    for (const [i, { name }] of gateways.entries()) {
      const figures = [idle[i]!, open[i]!, open[i]! - idle[i]!];
      printRow(name, ...figures.map((figure) => figure.toFixed(0)));
    }
  } finally {
    await browser.stop();
  }
});
