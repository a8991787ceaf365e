import type { AdminOperations } from '../call.ts';
import type { Live } from '../live/live.ts';

export function liveOperations(live: Live) {
  return {
    followLive: async ({ query }) => {
      const { event, key = null, account = null, code = null } = query;
      const wanted = {
        now: event !== 'refused',
        refused: event === 'now' ? null : { key, account, code },
      };
      return { status: 200, body: null, follow: (listener) => live.follow(wanted, listener) };
    },
  } satisfies Partial<AdminOperations>;
}
