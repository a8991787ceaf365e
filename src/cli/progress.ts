import type { Terminal } from './terminal.ts';

/** Milliseconds. */
const EVERY = 100;
const WIDTH = 30;

/** Only on a terminal. */
export interface Progress {
  pass(done: number): void;
  end(): void;
}

/** `total` may be exceeded. */
export function showProgress({ err, errIsTerminal }: Terminal, title: string, total: number): Progress {
  if (!errIsTerminal) return { pass() {}, end() {} };
  let shown = Number.NEGATIVE_INFINITY;
  return {
    pass(done) {
      const now = performance.now();
      if (now < shown + EVERY) return;
      shown = now;
      const part = total === 0 ? 1 : Math.min(1, done / total);
      const bar = '#'.repeat(Math.round(part * WIDTH)).padEnd(WIDTH, '.');
      err(`\r\x1b[K${title} [${bar}] ${Math.floor(part * 100)} %`);
    },
    end: () => err('\r\x1b[K'),
  };
}
