import { understood } from '../../observe/peers/said.ts';
import { isTopAnswer, mergeTop, readTopQuestion, type TopAnswer } from '../../observe/peers/top.ts';
import type { Counted } from '../../observe/top/summary.ts';
import type { Counting } from '../../observe/top/top.ts';
import { type AdminOperations, ok } from '../call.ts';
import type { AdminContext } from '../context.ts';
import { time } from '../shown.ts';

/** One that `isTopAnswer` has found well-formed. */
interface Heard {
  readonly gateway: string;
  readonly answer: TopAnswer;
}

export function topOperations(context: AdminContext) {
  return {
    showTop: async ({ query }) => {
      const { window = 'hour', by = 'requests', limit = '20' } = query;
      const question = readTopQuestion({ window, by })!;
      const gathered = understood(await context.fleet().ask('top', question), isTopAnswer);
      const { silent, apart } = gathered;
      const heard = gathered.answers as readonly Heard[];
      const { since, summary } = mergeTop(
        question.by,
        heard.map(({ answer }) => answer),
      );
      return ok({
        ...question,
        since: heard.length === 0 ? null : time(since),
        total: summary.total,
        error: summary.floor,
        items: summary.items.slice(0, Number(limit)).map((item) => shown(item, summary.total)),
        gateways: heard.map(({ gateway, answer }) => ({ gateway, since: time(answer.since), missing: answer.missing })),
        silent,
        apart,
      });
    },
  } satisfies Partial<AdminOperations>;
}

function shown({ count, error, last, about }: Counted<Counting>, total: number) {
  const { keyId, account, plan, operation } = about;
  return { key: keyId, account, plan, operation, count, error, share: round(count / total), last: time(last) };
}

const round = (share: number): number => Math.round(share * 10_000) / 10_000;
