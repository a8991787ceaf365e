import { Outage } from '../../common/errors/outage.ts';
import type { CountedUsage } from '../../ledger/ledger.ts';
import { causeOf } from '../../ledger/read.ts';

/** What a worker could not store. */
export interface WaitingUsage {
  readonly reason: string;
  readonly parts: readonly (readonly [name: string, bytes: Uint8Array])[];
}

/** In a worker. `null`: everything is stored. */
export async function flushUsage({
  unsent,
  flush,
}: CountedUsage): Promise<WaitingUsage | null> {
  try {
    await flush();
    return null;
  } catch (error) {
    if (!(error instanceof Outage)) throw error;
    const { parts } = await unsent.index();
    return {
      reason: causeOf(error),
      parts: [...parts].map(([name, { bytes }]) => [name, bytes]),
    };
  }
}

/** In the primary process, which counts nothing itself. `ask` flushes all workers. */
export function usageOfWorkers(
  ask: () => Promise<readonly (WaitingUsage | null)[]>,
): CountedUsage {
  let waiting: readonly WaitingUsage[] = [];
  return {
    async flush() {
      waiting = (await ask()).filter((one) => one !== null);
      if (waiting.length > 0)
        throw new Outage('state_unavailable', {
          cause: new Error(waiting[0]!.reason),
        });
    },
    unsent: {
      async index() {
        const parts = waiting.flatMap(({ parts }) => parts);
        return {
          parts: new Map(
            parts.map(([name, bytes]) => [
              name,
              { bytes: Buffer.from(bytes), age: 0 },
            ]),
          ),
          sizes: new Map(),
        };
      },
      read: async () => [],
    },
  };
}
