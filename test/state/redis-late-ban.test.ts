import { expect, test } from '@jest/globals';
import type { Admission } from '../../src/limits/admission.ts';
import { NO_SCOPES } from '../../src/limits/scopes.ts';
import { Batch } from '../../src/state/redis/batches.ts';
import type { StartedBan } from '../../src/state/state.ts';
import { limits, MINUTE, window } from '../support/limits.ts';

const one = limits([window(60, MINUTE)]);

/** The reports of an answer that came after the deadline. */
async function heardOf(
  response: Promise<unknown>,
): Promise<{ ends: unknown[]; bans: StartedBan[] }> {
  const batch = new Batch();
  const request = {
    limits: one,
    cost: 1,
    scopes: NO_SCOPES,
    resolve: (_: Admission) => {},
    reject: () => {},
  };
  for (const subject of ['key:a', 'key:b']) batch.add({ subject, ...request });
  const [ends, bans]: [unknown[], StartedBan[]] = [[], []];
  const running = response.then((one) => batch.read(one));
  batch.inDoubt(running, {
    begin: () => {},
    end: (subject, charged) => void ends.push([subject, charged]),
    banned: (ban) => void bans.push(ban),
  });
  await Promise.allSettled([running]);
  return { ends, bans };
}

test('a ban that began with a request whose answer came late is reported, with what the answer contains', async () => {
  // The first is admitted with 10 left. The second begins a ban of level 2 that ends at 90 000.
  const response = [1_000, 0, 10, 60_000, 2, 0, 60_000, 1, 60_000, 0, 0, 90_000, 2];
  expect(await heardOf(Promise.resolve(response))).toEqual({
    ends: [
      ['key:a', 1],
      ['key:b', 0],
    ],
    bans: [{ subject: 'key:b', limits: one, until: 90_000, level: 2, violated: one.windows[0] }],
  });
});

test('an answer that never came reports none', async () => {
  expect((await heardOf(Promise.reject(new Error('gone')))).bans).toEqual([]);
});
