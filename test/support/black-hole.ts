import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A connect gets no response, as behind a firewall that drops packets. */
export interface BlackHole {
  readonly url: string;
  close(): Promise<void>;
}

const LISTEN = `require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () {
  process.stdout.write(String(this.address().port));
})`;

/**
 * Stops a listening process. It accepts nothing, and with a full backlog the system drops new
 * connects.
 */
export async function startBlackHole(): Promise<BlackHole> {
  const child = spawn(process.execPath, ['-e', LISTEN], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(said);
  child.kill('SIGSTOP');
  const fillers: Socket[] = [];
  for (;;) {
    const filler = connect({ port, host: '127.0.0.1' }).on('error', () => {});
    fillers.push(filler);
    const connected = await Promise.race([
      once(filler, 'connect').then(() => true),
      new Promise((resolve) => setTimeout(resolve, 200, false)),
    ]);
    if (!connected) break;
  }
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      for (const filler of fillers) filler.destroy();
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}
