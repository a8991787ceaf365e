import type { Server } from 'node:net';
import type { Observe } from '../observe/events.ts';
import { openAdminSocket } from '../state/admin-sockets.ts';

/**
 * Lets commands in the data folder reach this gateway, whatever its state. A read-only folder or
 * full disk refuses no start, and delays no stop.
 */
export function createLocalAccess(data: string, observe: Observe) {
  let opened = Promise.resolve(() => {});

  function warn(warning: string, error: unknown): void {
    const { message } = error as Error;
    observe({ type: 'state.warning', warning: `${warning}: ${message}` });
  }

  return {
    async open(server: Server): Promise<void> {
      opened = openAdminSocket(data, server).catch((error: unknown) => {
        warn(
          'commands need --url and a token, because they do not find this gateway in its data folder',
          error,
        );
        return () => {};
      });
      await opened;
    },
    /** Call it before the server is closed. */
    async close(): Promise<void> {
      const remove = await opened;
      try {
        remove();
      } catch (error) {
        warn('the socket of this gateway stays in its data folder', error);
      }
    },
  };
}
