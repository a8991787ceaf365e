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
import { parseArgs } from 'node:util';
import { TestBrowser } from '../test/support/browser.ts';
import { wakeUps } from './cpu.ts';
import { checkouts, withSurroundings } from './surroundings.ts';
import { prepareStoregate } from './targets/storegate-process.ts';

/** Milliseconds after which a gateway, or a page, has ended what only its start needs. */
const REST = 60_000;

const { values } = parseArgs({
  options: { before: { type: 'string' }, seconds: { type: 'string', default: '60' } },
});
const seconds = Number(values.seconds);

await withSurroundings(async (surroundings) => {
  const { children } = surroundings;
  const gateways: { name: string; pid: number; console: string }[] = [];
  for (const { name, folder: project } of checkouts(values.before, children.folder)) {
    const { command, adminUrl } = await prepareStoregate(name, surroundings, { project });
    const { pid } = await children.start(command);
    gateways.push({ name, pid, console: `${adminUrl}/console/` });
  }

  /** Milliseconds of CPU per minute of each. */
  async function measure(): Promise<number[]> {
    await pause(REST);
    const before = gateways.map(({ pid }) => wakeUps(pid).nanoseconds);
    await pause(seconds * 1_000);
    return gateways.map(
      ({ pid }, i) => ((wakeUps(pid).nanoseconds - before[i]!) / 1e6 / seconds) * 60,
    );
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
    console.log('CPU ms per minute               idle      open   the view');
    for (const [i, { name }] of gateways.entries()) {
      const figures = [idle[i]!, open[i]!, open[i]! - idle[i]!];
      console.log(name.padEnd(26), ...figures.map((figure) => figure.toFixed(0).padStart(9)));
    }
  } finally {
    await browser.stop();
  }
});
