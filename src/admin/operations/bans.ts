import { parseDuration } from '../../config/units.ts';
import { act } from '../act.ts';
import { AdminError } from '../admin-error.ts';
import { type AdminAnswer, type AdminOperations, ok, type Task } from '../call.ts';
import type { AdminContext } from '../context.ts';
import { countedOnes, type PartyStanding, partiesOf, standingOf } from '../parties.ts';
import { time } from '../shown.ts';

/** The longest ban: ten years. Who is meant to stay away for good has its keys revoked. */
const LONGEST = 3_650 * 86_400_000;
/** The state has its own clock: a ban and its entry in the audit log may differ by so much. */
const CLOCKS_DIFFER = 10_000;

export function banOperations(context: AdminContext): AdminOperations {
  async function list(): Promise<AdminAnswer> {
    const bans = await context.state().bans();
    const shown = await Promise.all(bans.map(({ subject, until }) => shownBan(context, subject, until)));
    return ok({ bans: shown.sort((a, b) => (a.until! < b.until! ? -1 : 1)) });
  }

  /** `lengthOf`: of the ban from now on, by what the party has left of another one. On the state's clock. */
  async function ban(
    task: Task,
    action: string,
    lengthOf: (left: number, subject: string) => number,
  ): Promise<AdminAnswer> {
    const { reason } = task.body as { reason: string };
    const parties = countedOnes(await partiesOf(context, task.path.party!));
    const plans = await Promise.all(
      parties.map(async (party) => {
        const { now, bannedUntil } = await context.state().look(party.subject, party.limits);
        const length = lengthOf(Math.max(0, bannedUntil - now), party.subject);
        return { ...party, length, before: bannedUntil > 0 ? time(bannedUntil) : null, until: time(now + length) };
      }),
    );
    const answer = ok({
      bans: plans.map(({ subject, key, account, plan, until }) => ({
        ...{ subject, key, account, plan, until },
        ...{ reason, by: task.actor },
      })),
    });
    for (const [i, { subject, limits, length, before, until }] of plans.entries()) {
      const entry = { action, target: subject, before: { until: before }, after: { until, reason } };
      await act(context, i === 0 ? task : unrepeatable(task), entry, answer, async () =>
        context.state().ban(subject, limits, length),
      );
    }
    return answer;
  }

  return {
    listBans: { role: 'read', run: list },
    imposeBan: {
      role: 'operate',
      run: (task) => ban(task, 'bans.impose', () => lengthIn(task)),
    },
    extendBan: {
      role: 'operate',
      run: (task) =>
        ban(task, 'bans.extend', (left, subject) => {
          if (left === 0) throw new AdminError('conflict', `${subject} is not banned: impose a ban instead.`);
          return Math.min(left + lengthIn(task), LONGEST);
        }),
    },
    pardon: {
      role: 'operate',
      run: async (task) => {
        const parties = countedOnes(await partiesOf(context, task.path.party!));
        const usage: PartyStanding[] = [];
        for (const party of parties) {
          const standing = await standingOf(context, party);
          const after = { ...standing, banned: null, strikes: 0, rung: 0 };
          usage.push(after);
          const entry = { target: party.subject, before: conduct(standing), after: conduct(after) };
          await act(context, task, { action: 'bans.pardon', ...entry }, ok(null), async () =>
            context.state().pardon(party.subject),
          );
        }
        return ok({ usage });
      },
    },
  };
}

function lengthIn({ body }: Task): number {
  const length = parseDuration(body.length)!;
  if (length > 0 && length <= LONGEST) return length;
  throw new AdminError(
    'invalid_value',
    'A ban is at least 1ms and at most 3650d long; to lock out for good, revoke the keys.',
  );
}

/** The answer to a repeated call is kept once, with the first of its audit entries. */
function unrepeatable(task: Task): Task {
  return { ...task, note: (entry, answer) => ({ ...task.note(entry, answer), idempotent: null }) };
}

function conduct({ banned, strikes, rung }: PartyStanding) {
  return { until: banned, strikes, rung };
}

/** A ban with what is known about its party; and who imposed it, where people did. */
async function shownBan(context: AdminContext, subject: string, until: number) {
  const [kind, ...rest] = subject.split(':');
  const record = kind === 'key' ? await context.keys.get(rest.join(':')) : null;
  const [plan = null, account = null] = kind === 'account' ? rest : [record?.plan, record?.account];
  const [last] = await context.auditLog.list({ target: subject, limit: 1 });
  const after = last?.after as { until?: string | null; reason?: string } | null | undefined;
  const imposed = typeof after?.until === 'string' && Math.abs(Date.parse(after.until) - until) < CLOCKS_DIFFER;
  return {
    subject,
    key: record?.id ?? null,
    account,
    plan,
    until: time(until),
    reason: (imposed && after.reason) || null,
    by: imposed ? last!.actor : null,
  };
}
