import type { Config } from '../config/config.ts';
import type { KeyStore } from '../keys/store.ts';
import { openStateFile } from '../state/embedded/file.ts';
import { recordsInFile } from '../state/embedded/open.ts';

/** Running gateways see the changes. */
export async function withKeys<T>(
  { data, redis, audit }: Pick<Config, 'data' | 'redis' | 'audit'>,
  work: (store: KeyStore) => Promise<T>,
): Promise<T> {
  if (redis) {
    const { openOffline } = await import('../state/redis/open.ts');
    const { keys, close } = await openOffline(redis, audit);
    return await work(keys).finally(close);
  }
  const db = openStateFile(data);
  try {
    return await work(recordsInFile(db, audit).keys);
  } finally {
    db.close();
  }
}
