import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  readonly url: string;
  /** `pass`, wait until they may pass again, `delay` in milliseconds, or end the connection. */
  replies: 'pass' | 'hold' | 'cut' | { readonly delay: number };
  /** Must not change the length. */
  rewrite: (reply: string) => string;
  /** Closes all connections, and accepts no new one until `admit`. */
  shut(): void;
  admit(): void;
  readonly connections: number;
  stop(): Promise<void>;
}

export async function startProxy(port: number): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let open = true;
  const server = createServer((client) => {
    if (!open) return void client.destroy();
    const upstream = connect(port, '127.0.0.1');
    const pair = [client, upstream] as const;
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of pair) socket.on('error', end).on('close', end);
    client.on('data', (data) => upstream.write(data));
    upstream.on('data', (data) => pass(data, client, end));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  const held: (() => void)[] = [];
  let replies: TcpProxy['replies'] = 'pass';

  function pass(data: Buffer, client: Socket, end: () => void): void {
    const write = () =>
      client.writable &&
      client.write(Buffer.from(proxy.rewrite(data.toString('latin1')), 'latin1'));
    if (replies === 'pass') write();
    else if (replies === 'cut') end();
    else if (replies === 'hold') held.push(write);
    else setTimeout(write, replies.delay).unref();
  }

  function shut(): void {
    open = false;
    for (const [client, upstream] of pairs) {
      client.destroy();
      upstream.destroy();
    }
  }

  const proxy: TcpProxy = {
    url: `redis://127.0.0.1:${(server.address() as { port: number }).port}`,
    get replies() {
      return replies;
    },
    set replies(next) {
      replies = next;
      if (next === 'pass') for (const write of held.splice(0)) write();
    },
    rewrite: (reply) => reply,
    shut,
    admit() {
      open = true;
    },
    get connections() {
      return pairs.size;
    },
    async stop() {
      shut();
      server.close();
      await once(server, 'close');
    },
  };
  return proxy;
}
