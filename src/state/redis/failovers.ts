import { Redis, type RedisOptions } from 'ioredis';

const SWITCHED = '+switch-master';

interface FailoversParts {
  readonly redis: Redis;
  readonly options: Pick<
    RedisOptions,
    'connectTimeout' | 'retryStrategy' | 'connectionName'
  >;
  /** Called once for each new master. */
  readonly switched: () => void;
}

/**
 * Follows the Sentinels of a client. The client's own detector prints errors of their connections
 * as plain text. Returns a function that stops.
 */
export function followFailovers({
  redis: {
    options: { sentinels, name, sentinelPassword, sentinelTLS },
  },
  options,
  switched,
}: FailoversParts): () => void {
  let last = '';
  function listen(_channel: string, text: string): void {
    // `<name> <old address> <old port> <new address> <new port>`
    const [of, , , ...master] = text.split(' ');
    if (of !== name || master.join(' ') === last) return;
    last = master.join(' ');
    switched();
  }
  const clients = (sentinels ?? []).map(({ host, port }) => {
    const client = new Redis({
      ...options,
      host: host!,
      port: port!,
      ...(sentinelPassword && { password: sentinelPassword }),
      ...(sentinelTLS && { tls: sentinelTLS }),
      enableReadyCheck: false,
      autoResubscribe: false,
      lazyConnect: true,
    });
    client
      // The look-up of the master reports Sentinels that are down.
      .on('error', () => {})
      .on('ready', () => client.subscribe(SWITCHED).catch(() => {}))
      .on('message', listen);
    client.connect().catch(() => {});
    return client;
  });
  return () => {
    for (const client of clients) client.disconnect();
  };
}
