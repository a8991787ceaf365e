import { FILES, type JournalFiles } from '../../src/state/journal/journal.ts';

type Step = 'create' | 'append' | 'sync' | 'syncFolder' | 'remove' | 'close';

export class FailingFiles implements JournalFiles {
  /** The step that fails until it is reset; an append then writes half of its bytes. */
  fails: Step | null = null;
  readonly steps: Step[] = [];
  /** Every sync waits for it. */
  slow: Promise<void> = Promise.resolve();
  appended = 0;

  async create(path: string) {
    this.#step('create');
    const file = await FILES.create(path);
    return {
      append: async (parts: readonly Uint8Array[]) => {
        const bytes = Buffer.concat(parts);
        if (this.fails === 'append') await file.append([bytes.subarray(0, bytes.length / 2)]);
        this.#step('append');
        await file.append(parts);
        this.appended += bytes.length;
      },
      sync: async () => {
        await this.slow;
        this.#step('sync');
        await file.sync();
      },
      close: async () => {
        await file.close();
        this.#step('close');
      },
    };
  }

  async remove(file: string): Promise<void> {
    this.#step('remove');
    await FILES.remove(file);
  }

  async syncFolder(folder: string): Promise<void> {
    this.#step('syncFolder');
    await FILES.syncFolder(folder);
  }

  #step(step: Step): void {
    this.steps.push(step);
    if (this.fails === step) throw Object.assign(new Error(`${step} failed`), { code: 'ENOSPC' });
  }
}
