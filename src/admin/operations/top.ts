import { ask } from '../../observe/peers/peers.ts';
import { mergeTop, type TopQuery, top } from '../../observe/peers/top.ts';
import type { Counted } from '../../observe/top/summary.ts';
import type { Counting } from '../../observe/top/top.ts';
import { type AdminOperations, ok } from '../call.ts';
import type { AdminContext } from '../context.ts';
import { coverageOf } from '../peer-names.ts';
import { time } from '../view.ts';

export function topOperations(context: AdminContext) {
  return {
    getTop: async ({ query }) => {
      const { window = 'hour', by = 'requests', limit = '20' } = query;
      // Validated by the contract.
      const question = { window, by: by === 'near-limit' ? 'near' : by } as TopQuery;
      const { answers, silent, apart } = await ask(context.peers(), top, question);
      const { since, summary } = mergeTop(
        question.by,
        answers.map(({ answer }) => answer),
      );
      return ok({
        window: question.window,
        by: question.by === 'near' ? 'near-limit' : question.by,
        since: answers.length === 0 ? null : time(since),
        total: summary.total,
        error: summary.floor,
        items: summary.items.slice(0, Number(limit)).map((item) => shown(item, summary.total)),
        gateways: answers.map(({ gateway, answer }) => ({
          gateway,
          since: time(answer.since),
          missing: answer.missing,
        })),
        ...coverageOf({ silent, apart }),
      });
    },
  } satisfies Partial<AdminOperations>;
}

function shown({ count, error, last, about }: Counted<Counting>, total: number) {
  const { keyId, account, plan, operation } = about;
  return { key: keyId, account, plan, operation, count, error, share: round(count / total), last: time(last) };
}

const round = (share: number): number => Math.round(share * 10_000) / 10_000;
