import type { DatabaseSync } from 'node:sqlite';
import { createAddressWindow } from '../../common/clients/address-window.ts';
import type { AuditSettings } from '../../config/config.ts';
import type { Observe } from '../../observe/events.ts';
import { noPeers } from '../../observe/peers/peers.ts';
import {
  type CounterStoreEvents,
  countersInFolder,
} from '../../state/embedded/counter-store.ts';
import { createEmbeddedState } from '../../state/embedded/counters.ts';
import { makeFolder, openStateFile } from '../../state/embedded/file.ts';
import { lockFolder } from '../../state/embedded/lock.ts';
import { createRowWriter } from '../../state/rows/row-writer.ts';
import { usageInFolder } from '../../state/usage-folder.ts';
import type { Storage } from '../storage.ts';
import { recordsInFile } from './records.ts';

interface EmbeddedOptions {
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly audit: AuditSettings;
  readonly observe: Observe;
}

/**
 * Opens the embedded state: one folder, one gateway. Throws an ExpectedError and then leaves
 * nothing open.
 */
export function openEmbedded(
  folder: string,
  { clock, audit, observe }: EmbeddedOptions,
): Storage {
  makeFolder(folder);
  // Before any read or write, because another gateway may be using the folder.
  const lock = lockFolder(folder);
  let db: DatabaseSync | null = null;

  function closeAll() {
    db?.close();
    lock.release();
  }

  try {
    const opened = openStateFile(folder);
    db = opened;
    const reports = counterStoreEvents(observe);
    const writer = createRowWriter(folder);
    const state = createEmbeddedState({
      clock,
      store: countersInFolder(folder, db, writer, reports),
    });
    // Last, because it has a lock of its own.
    const ledger = usageInFolder(folder, writer, (error) =>
      observe({
        type: 'state.warning',
        warning: `the ledger: ${messageOf(error)}`,
      }),
    );
    return {
      state,
      openAddressWindow: createAddressWindow,
      ...recordsInFile(db, audit),
      kind: 'embedded',
      ledger,
      outbox: async () => (await import('./outbox.ts')).outboxIn(opened),
      join: noPeers,
      ready: () => true,
      unsavedFor: reports.unsavedFor,
      close: () =>
        Promise.all([state.close(), ledger.close()])
          .finally(() => writer.close())
          .then(() => {})
          .finally(closeAll),
    };
  } catch (error) {
    closeAll();
    throw error;
  }
}

const messageOf = (error: unknown) =>
  error instanceof Error ? error.message : String(error);

function counterStoreEvents(
  observe: Observe,
): CounterStoreEvents & Pick<Storage, 'unsavedFor'> {
  let since: number | null = null;
  return {
    unsavedFor: () => (since === null ? 0 : performance.now() - since),
    unsaved(error) {
      since = performance.now();
      observe({ type: 'state.write_failed', error });
    },
    saved() {
      since = null;
      observe({ type: 'state.write_recovered' });
    },
    damaged: (warning) => observe({ type: 'state.warning', warning }),
  };
}
