import { expect } from '@jest/globals';
import { MINUTE } from '../../../src/common/time.ts';
import { createKey, deaf, polite } from '../clients.ts';
import type { Answered } from '../gateway/gateway.ts';
import { simulate } from '../simulation.ts';
import { faultTest } from './fault-test.ts';
import { SEED } from './support.ts';

faultTest(3, '16 workers that wait for their Retry-After are never banned', async () => {
  await simulate({ seed: SEED, gateways: 0 }, async (simulation) => {
    const { world, gateways } = simulation;
    const key = await createKey(simulation, 'free');
    const codes = new Set<string | null>();
    const answered = ({ code }: Answered) => void codes.add(code);
    const end = world.now + 5 * MINUTE;
    for (let i = 0; i < 16; i++)
      void polite(simulation, { key, pause: 2_000, gateway: () => gateways[0]!, answered }, end);
    await world.run(end);
    expect(codes).toContain('rate_limit_exceeded');
    expect(codes).not.toContain('key_banned');
  });
});

faultTest(
  3,
  'a client that ignores refusals by concurrency is banned within a minute',
  async () => {
    await simulate({ seed: SEED, gateways: 0 }, async (simulation) => {
      const { world, gateways } = simulation;
      const key = await createKey(simulation, 'free');
      const codes = new Map<string | null, number>();
      const answered = ({ code }: Answered) => void codes.set(code, (codes.get(code) ?? 0) + 1);
      const end = world.now + MINUTE;
      const behaviour = {
        key,
        pause: 50,
        backend: 2 * MINUTE,
        gateway: () => gateways[0]!,
        answered,
      };
      void deaf(simulation, behaviour, end);
      await world.run(end);
      expect(codes.get('too_many_in_flight')).toBeGreaterThan(0);
      expect(Object.fromEntries(codes)).toHaveProperty('key_banned');
    });
  },
);
