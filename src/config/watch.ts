import { stat } from 'node:fs/promises';

/** Milliseconds between looks. */
const EVERY = 400;

/**
 * Calls back when any of the files has become another one, once it has stood still for a look: editors write in steps. Also
 * after the first looks, for a file may have changed between being read and being watched.
 * Looking beats listening here: it sees files that are replaced, mounted volumes whose links move, and network folders.
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
    timer = setTimeout(() => void look(), EVERY).unref();
  }

  void look();
  return {
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}

/** Changes whenever the file does; one that is not there has a signature too. */
async function signature(file: string): Promise<string> {
  try {
    const { ino, size, mtimeNs } = await stat(file, { bigint: true });
    return `${ino}:${size}:${mtimeNs}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown';
  }
}
