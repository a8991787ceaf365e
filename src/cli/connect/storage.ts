import { AdminError } from '../../admin/admin-error.ts';
import type { Lock } from '../../common/lock.ts';
import type { Config } from '../../config/config.ts';
import { accessTo, type LedgerAccess } from '../../ledger/ledger.ts';
import type { Peers } from '../../observe/peers/peers.ts';
import { outboxIn } from '../../records/embedded/outbox.ts';
import { recordsInFile } from '../../records/embedded/records.ts';
import type { KeyStore } from '../../records/keys/store.ts';
import type { Outbox } from '../../records/outbox.ts';
import type { Records } from '../../records/storage.ts';
import { countersInFolder } from '../../state/embedded/counter-store.ts';
import {
  createEmbeddedState,
  type EmbeddedState,
} from '../../state/embedded/counters.ts';
import { openStateFile } from '../../state/embedded/file.ts';
import { FolderInUse, lockFolder } from '../../state/embedded/lock.ts';
import {
  createRowWriter,
  type RowWriter,
} from '../../state/rows/row-writer.ts';
import type { State } from '../../state/state.ts';
import { readUsageIn } from '../../state/usage-folder.ts';

export interface Storage {
  readonly records: Records;
  /** Throws AdminError if a running gateway has the counters in its memory. */
  readonly state: () => State;
  /** Throws AdminError if a gateway runs on the folder. */
  readonly peers: () => Peers;
  /** Throws AdminError if a gateway runs on the folder. */
  readonly refuseRunning: () => void;
  /** Throws AdminError if a gateway runs on the folder, which has counted more. */
  readonly ledger: () => LedgerAccess;
  readonly outbox: () => Promise<Outbox>;
  close(): Promise<void>;
}

export async function openStorage(config: Config): Promise<Storage> {
  return config.redis
    ? await openShared(config.redis, config)
    : openFolder(config);
}

/** Running gateways see the changes. */
export async function withKeys<T>(
  config: Config,
  work: (store: KeyStore) => Promise<T>,
): Promise<T> {
  const storage = await openStorage(config);
  try {
    return await work(storage.records.keys);
  } finally {
    await storage.close();
  }
}

function wayTo({ host, port, tls }: Config['admin']): string {
  if (tls.clientCa !== null) {
    return 'It requires a client certificate: set STOREGATE_ADMIN_CLIENT_CERT and STOREGATE_ADMIN_CLIENT_KEY.';
  }
  const scheme =
    tls.cert !== null || tls.certificates.length > 0 ? 'https' : 'http';
  return `Use --url or set STOREGATE_ADMIN_URL, e.g. ${scheme}://${host}:${port}.`;
}

async function openShared(
  settings: NonNullable<Config['redis']>,
  { audit, data }: Pick<Config, 'audit' | 'data'>,
): Promise<Storage> {
  const { openOffline } = await import('../../records/redis/open.ts');
  const { state, peers, close, outbox, ledger, ...records } = await openOffline(
    settings,
    audit,
    data,
  );
  let queried: Peers | null = null;
  return {
    records,
    ledger: () => accessTo(ledger, null, process.emitWarning),
    state: () => state,
    peers() {
      queried ??= peers();
      return queried;
    },
    // Gateways that share a Redis may run anywhere.
    refuseRunning: () => {},
    outbox,
    async close() {
      await queried?.close();
      close();
    },
  };
}

function openFolder(config: Config): Storage {
  const { data, audit } = config;
  const db = openStateFile(data);
  let counting: {
    state: EmbeddedState;
    writer: RowWriter;
    lock: Lock;
  } | null = null;

  function state(): State {
    if (counting !== null) return counting.state;
    const lock = lockCounters();
    try {
      const damaged = (damage: string) => process.emitWarning(damage);
      const writer = createRowWriter(data);
      const store = countersInFolder(data, db, writer, { damaged });
      counting = { state: createEmbeddedState({ store }), writer, lock };
      return counting.state;
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  function refuseRunning(): void {
    if (counting === null) lockCounters().release();
  }

  function peers(): Peers {
    refuseRunning();
    return {
      ask: async () => ({
        responses: [],
        unresponsive: [],
        lost: [],
        isolated: null,
      }),
      forget: async () => {},
      close: async () => {},
    };
  }

  function lockCounters(): Lock {
    try {
      return lockFolder(data);
    } catch (error) {
      if (!(error instanceof FolderInUse)) throw error;
      throw new AdminError(
        'gateway_running',
        `A gateway is running on ${data} and was not reached. ${wayTo(config.admin)}`,
      );
    }
  }

  return {
    records: recordsInFile(db, audit),
    ledger() {
      refuseRunning();
      return accessTo(readUsageIn(data), null, process.emitWarning);
    },
    state,
    peers,
    refuseRunning,
    outbox: async () => outboxIn(db),
    async close() {
      try {
        await counting?.state.close();
        await counting?.writer.close();
      } finally {
        counting?.lock.release();
        db.close();
      }
    },
  };
}
