import { stat } from 'node:fs/promises';

/** Milliseconds. */
const CHECK_INTERVAL = 2_000;
/** Milliseconds, after a change. */
const RECHECK_INTERVAL = 400;

/**
 * Calls back after a change and one check without changes, because editors write in steps, and
 * after the first checks. Polling also detects replaced files, mounted volumes whose links move,
 * and changes on network folders.
 */
export function watchFiles(
  files: () => readonly string[],
  changed: () => void,
): { close(): void } {
  let last: string | null = null;
  let moving: string | null = null;
  let timer: NodeJS.Timeout;
  let closed = false;

  async function look(): Promise<void> {
    const current = (await Promise.all(files().map(signature))).join('|');
    if (closed) return;
    if (current === last) moving = null;
    else if (current !== moving) moving = current;
    else {
      last = current;
      moving = null;
      changed();
    }
    timer = setTimeout(
      () => void look(),
      moving === null ? CHECK_INTERVAL : RECHECK_INTERVAL,
    ).unref();
  }

  void look();
  return {
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}

/** A missing file has a signature too. */
async function signature(file: string): Promise<string> {
  try {
    const { ino, size, mtimeNs } = await stat(file, { bigint: true });
    return `${ino}:${size}:${mtimeNs}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}
