import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { remainingIn } from '../../../src/limits/admission.ts';
import { exactly } from '../../../src/limits/plans.ts';
import { NO_SCOPES } from '../../../src/limits/scopes.ts';
import { openEmbedded } from '../../../src/records/embedded/open.ts';
import { folderSource, folderTarget } from '../../../src/records/transfer/folder.ts';
import { openRedisSource, openRedisTarget } from '../../../src/records/transfer/redis.ts';
import { replaceCounters } from '../../../src/state/embedded/counter-store.ts';
import { openStateFile } from '../../../src/state/embedded/file.ts';
import { createRedisState } from '../../../src/state/redis/counters.ts';
import { keyOf } from '../../../src/state/redis/key-names.ts';
import type { State } from '../../../src/state/state.ts';
import { isDeep } from '../../runner/fast-check.ts';
import { burstOf, ESCALATION, PLANS, type Step, sequences } from '../../state/sequences.ts';
import { KEPT } from '../../support/audit.ts';
import { storedCounters } from '../../support/counters.ts';
import { DAY, HOUR, limits, MINUTE, scoped, TestClock, window } from '../../support/limits.ts';
import { DEFAULTS } from '../../support/redis/settings.ts';
import { redisForSuite } from '../../support/redis/suite.ts';
import { idOf, moveAll, temporaryFolder, WITH_CLOCK } from '../../support/transfer.ts';

/** With windows of scopes. */
const SCOPED = PLANS.findIndex(({ windows }) => windows.some(({ scope }) => scope === 'login'));
const LOGIN = ['login'];

/**
 * Ahead of the clock of Redis, which ends counters that are put there: none expire before the clock
 * of the test.
 */
const AHEAD = Date.UTC(2100, 0, 1);
/** Any phase of windows and their slots. */
const beginning = fc.nat({ max: 3 * DAY }).map((after) => AHEAD + after);

/** Traffic before a move and after it. */
const EXAMPLES: [Step[], Step[], number][] = [
  // Refused in a scope on both sides: whether that is a strike hangs on what a move drops.
  [burstOf(SCOPED, 4, LOGIN), burstOf(SCOPED, 4, LOGIN), AHEAD],
  // Moved while banned.
  [burstOf(0, 9, NO_SCOPES), burstOf(0, 4, NO_SCOPES), AHEAD],
];

const own = redisForSuite();
let subjects = 0;

const settings = () => ({ ...DEFAULTS, url: own.server.url });

const options = (clock: TestClock) => ({ clock: clock.read, audit: KEPT, observe: () => {} });

const redisState = (clock: TestClock) =>
  createRedisState(own.redis, { clock: clock.read, deadline: 5_000 });

/** A subject after some traffic, in the state where that was and in the one it was moved to. */
interface Both {
  readonly stayed: State;
  readonly moved: State;
  /**
   * Whether the move dropped when scopes were first refused. What stayed has forgotten it too: in
   * all else the two are equal.
   */
  readonly hasDropped: boolean;
  readonly close: () => Promise<void>;
}

type Move = (subject: string, clock: TestClock, before: readonly Step[]) => Promise<Both>;

async function send(
  state: State,
  subject: string,
  clock: TestClock,
  steps: readonly Step[],
): Promise<void> {
  for (const { pass, action } of steps) {
    clock.pass(pass);
    await action.take(state, subject);
  }
}

const toRedis: Move = async (subject, clock, before) => {
  await own.server.admin.flushall();
  const folder = temporaryFolder();
  const first = openEmbedded(folder.path, options(clock));
  await send(first.state, subject, clock, before);
  await first.close();
  const target = await openRedisTarget(settings(), WITH_CLOCK);
  await moveAll(folderSource(folder.path, { clock: clock.read }), target);
  const hasDropped = dropScopesIn(folder.path);
  const stayed = openEmbedded(folder.path, options(clock));
  const moved = redisState(clock);
  const close = async () => {
    await moved.close();
    await stayed.close();
    folder.remove();
  };
  return { stayed: stayed.state, moved, hasDropped, close };
};

const toFolder: Move = async (subject, clock, before) => {
  await own.server.admin.flushall();
  const folder = temporaryFolder();
  const stayed = redisState(clock);
  await send(stayed, subject, clock, before);
  const target = folderTarget(folder.path, { clock: clock.read, dryRun: false });
  await moveAll(await openRedisSource(settings()), target);
  const hasDropped = (await own.server.admin.hdel(keyOf.counters(subject), 'v')) > 0;
  const moved = openEmbedded(folder.path, options(clock));
  const close = async () => {
    await stayed.close();
    await moved.close();
    folder.remove();
  };
  return { stayed, moved: moved.state, hasDropped, close };
};

/**
 * Removes from the counters of a folder when scopes were first refused. Returns whether any had
 * such times.
 */
function dropScopesIn(folder: string): boolean {
  const bySubject = storedCounters(folder, Number.NEGATIVE_INFINITY);
  const withScopes = [...bySubject.values()].flatMap(({ strikeState }) =>
    strikeState?.refusedIn ? [strikeState] : [],
  );
  for (const strikeState of withScopes) strikeState.refusedIn = undefined;
  const db = openStateFile(folder);
  replaceCounters(folder, db, bySubject);
  db.close();
  return withScopes.length > 0;
}

/** Both say the same of the subject, and answer the same to the same steps. */
async function expectEqual(
  { stayed, moved }: Both,
  subject: string,
  clock: TestClock,
  after: readonly Step[],
): Promise<void> {
  for (const given of PLANS) {
    expect(await moved.look(subject, given)).toEqual(await stayed.look(subject, given));
    expect(await moved.banLevel(subject, given)).toEqual(await stayed.banLevel(subject, given));
  }
  expect(await moved.bans()).toEqual(await stayed.bans());
  for (const { pass, action } of after) {
    clock.pass(pass);
    const expected = await action.take(stayed, subject);
    expect(await action.take(moved, subject)).toEqual(expected ?? undefined);
  }
}

const MOVES: readonly { readonly way: string; readonly move: Move }[] = [
  { way: 'of a folder continue in Redis', move: toRedis },
  { way: 'of Redis continue in a folder', move: toFolder },
];

test.each(MOVES)(
  'counters $way after any traffic as if they had stayed, except for what a move drops',
  async ({ move }) => {
    let [banned, dropped] = [0, 0];
    await fc.assert(
      fc.asyncProperty(sequences(), sequences(), beginning, async (before, after, start) => {
        const clock = new TestClock(start);
        const subject = `key:${idOf(subjects++)}`;
        const both = await move(subject, clock, before);
        try {
          banned += (await both.stayed.bans()).length;
          dropped += both.hasDropped ? 1 : 0;
          await expectEqual(both, subject, clock, after);
        } finally {
          await both.close();
        }
      }),
      { numRuns: isDeep ? 25 : 10, examples: EXAMPLES },
    );
    expect(banned).toBeGreaterThan(0);
    expect(dropped).toBeGreaterThan(0);
  },
  300_000,
);

test.each(MOVES)(
  'counters $way with their units and strikes, and one more refusal in a scope is not a strike',
  async ({ move }) => {
    const clock = new TestClock(AHEAD);
    const subject = `key:${idOf(subjects++)}`;
    const given = limits(
      [window(6, MINUTE), scoped('login', 3, MINUTE), scoped('@notes', 4, HOUR, 'sliding')],
      { ...ESCALATION, ...exactly(1) },
    );
    const request: Step = {
      pass: 110,
      action: { take: (state, s) => state.admit(s, given, 1, LOGIN) },
    };
    // Three that are admitted, one that is refused first, and two strikes.
    const { moved, close } = await move(subject, clock, Array(6).fill(request));
    const refused = async () => {
      clock.pass(110);
      return moved.admit(subject, given, 1, LOGIN);
    };
    const first = await refused();
    expect(first).toMatchObject({ verdict: 'limited', strikes: 2 });
    expect(first.readings.map(remainingIn)).toEqual([3, 0, 4]);
    expect(await refused()).toMatchObject({ verdict: 'banned', banBegins: true, banLevel: 1 });
    await close();
  },
);
