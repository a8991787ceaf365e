import { stat } from 'node:fs/promises';

/** Milliseconds between two checks. */
const CHECK_INTERVAL = 400;

/**
 * Calls back when any of the files has changed and then stayed the same for one check, because editors write in steps.
 * It also calls back after the first checks, because a file may have changed between reading and watching. Polling also
 * sees replaced files, mounted volumes whose links move, and network folders; file system events miss them.
 */
export function watchFiles(files: () => readonly string[], changed: () => void): { close(): void } {
  let known: string | null = null;
  let moving: string | null = null;
  let timer: NodeJS.Timeout;
  let closed = false;

  async function look(): Promise<void> {
    const current = (await Promise.all(files().map(signature))).join('|');
    if (closed) return;
    if (current === known) moving = null;
    else if (current !== moving) moving = current;
    else {
      known = current;
      moving = null;
      changed();
    }
    timer = setTimeout(() => void look(), CHECK_INTERVAL).unref();
  }

  void look();
  return {
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}

/** A text that changes whenever the file does; a missing file has a signature too. */
async function signature(file: string): Promise<string> {
  try {
    const { ino, size, mtimeNs } = await stat(file, { bigint: true });
    return `${ino}:${size}:${mtimeNs}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}
