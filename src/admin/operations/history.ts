import { DAY } from '../../common/time.ts';
import { parseDuration } from '../../config/units.ts';
import { quantile } from '../../observe/history/buckets.ts';
import type { Span } from '../../observe/history/history.ts';
import { ALL, operationRow, POLICIES, planRow } from '../../observe/history/minute.ts';
import { bucketsIn, classesIn, requestsIn, statusesIn, verdictsIn } from '../../observe/history/row.ts';
import {
  HISTORY_STEPS,
  type HistoryAnswer,
  type HistoryQuery,
  type HistoryStep,
  history,
  MOST_STEPS,
  mergeHistory,
} from '../../observe/peers/history.ts';
import { ask, type PeerAnswers } from '../../observe/peers/peers.ts';
import { AdminError } from '../admin-error.ts';
import { type AdminOperations, ok } from '../call.ts';
import type { AdminContext } from '../context.ts';
import { coverageOf } from '../peer-names.ts';
import { rounded, time } from '../view.ts';

export function historyOperations(context: AdminContext) {
  /** Splits the query by the steps that one answer may have. */
  async function askInParts(question: HistoryQuery) {
    const all: PeerAnswers<HistoryAnswer>[] = [];
    const most = MOST_STEPS * HISTORY_STEPS[question.step];
    for (let from = question.from; from < question.to; from += most) {
      const to = Math.min(question.to, from + most);
      all.push(await ask(context.peers(), history, { ...question, from, to }));
    }
    const answers = all.flatMap((one) => one.answers);
    return {
      steps: mergeHistory(answers.map(({ answer }) => answer)),
      gateways: [...new Set(answers.map(({ gateway }) => gateway))],
      silent: [...new Set(all.flatMap(({ silent }) => silent))],
      apart: all.find(({ apart }) => apart !== null)?.apart ?? null,
    };
  }

  return {
    getHistory: async ({ query, now }) => {
      const { since = '1d', step = '1h' } = query;
      const length = HISTORY_STEPS[step as HistoryStep];
      const from = Math.floor((now - Math.min(DAY, parseDuration(since)!)) / length) * length;
      const { steps, gateways, silent, apart } = await askInParts({
        from,
        to: Math.max(from, now),
        step: step as HistoryStep,
        row: rowOf(query),
      });
      return ok({ step, steps: steps.map(shown), gateways, ...coverageOf({ silent, apart }) });
    },
  } satisfies Partial<AdminOperations>;
}

function rowOf({ operation, plan }: Readonly<Record<string, string>>): string {
  if (operation !== undefined && plan !== undefined)
    throw new AdminError('invalid_value', 'Ask for an operation or for a plan: both together are not counted.');
  return operation !== undefined ? operationRow(operation) : plan !== undefined ? planRow(plan) : ALL;
}

function shown({ start, minutes, policies, row }: Span) {
  const buckets = bucketsIn(row);
  return {
    at: time(start),
    minutes,
    requests: requestsIn(row),
    ...verdictsIn(row),
    classes: classesIn(row),
    statuses: Object.fromEntries(Object.entries(statusesIn(row)).filter(([, count]) => count > 0)),
    p50: rounded(quantile(buckets, 0.5)),
    p95: rounded(quantile(buckets, 0.95)),
    p99: rounded(quantile(buckets, 0.99)),
    outagePolicies: POLICIES.filter((_policy, i) => (policies & (1 << i)) !== 0),
  };
}
