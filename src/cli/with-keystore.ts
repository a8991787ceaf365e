import type { Config } from '../config/config.ts';
import type { KeyStore } from '../keys/store.ts';
import { openStateFile } from '../state/embedded/file.ts';
import { keysInFile } from '../state/embedded/keystore.ts';
import { openBeside } from '../state/redis/open.ts';

/** The keys, wherever the gateway keeps them, for as long as `work` takes; running gateways notice what changed. */
export async function withKeys<T>(
  { data, redis }: Pick<Config, 'data' | 'redis'>,
  work: (store: KeyStore) => Promise<T>,
): Promise<T> {
  if (redis) {
    const { keys, close } = await openBeside(redis);
    return await work(keys).finally(close);
  }
  const db = openStateFile(data);
  try {
    return await work(keysInFile(db));
  } finally {
    db.close();
  }
}
