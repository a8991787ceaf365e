import type { Observe } from '../observe/events.ts';
import { History } from '../observe/history/history.ts';
import { type StoredHistory, storeHistory } from '../state/history/folder.ts';

export class GatewayHistory {
  readonly #history = new History();
  #kept: StoredHistory | null = null;

  /** Errors are reported and ignored. */
  open(folder: string, observe: Observe): void {
    this.#kept = storeHistory(folder, this.#history, (error) =>
      observe({ type: 'state.warning', warning: `the history: ${error instanceof Error ? error.message : error}` }),
    );
  }

  readonly add = (minute: Uint8Array): void => {
    this.#kept?.mark(this.#history.add(minute));
  };

  readonly read: History['read'] = (row, range) => this.#history.read(row, range);

  async close(): Promise<void> {
    await this.#kept?.close();
    this.#kept = null;
  }
}
