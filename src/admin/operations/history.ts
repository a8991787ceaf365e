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
  async function askInParts(question: HistoryQuery): Promise<HistoryReadings> {
    const heard = { answers: [] as HistoryAnswer[], gateways: new Set<string>(), silent: new Set<string>() };
    const most = MOST_STEPS * HISTORY_STEPS[question.step];
    let apart: string | null = null;
    for (let from = question.from; from < question.to; from += most) {
      const to = Math.min(question.to, from + most);
      const gathered = await ask(context.peers(), history, { ...question, from, to });
      readHistory(heard, gathered);
      apart ??= gathered.apart;
    }
    return { ...heard, apart };
  }

  return {
    getHistory: async ({ query, now }) => {
      const { since = '1d', step = '1h' } = query;
      const length = HISTORY_STEPS[step as HistoryStep];
      const from = Math.floor((now - Math.min(DAY, parseDuration(since)!)) / length) * length;
      const { answers, gateways, silent, apart } = await askInParts({
        from,
        to: Math.max(from, now),
        step: step as HistoryStep,
        row: rowOf(query),
      });
      const steps = mergeHistory(answers).map(shown);
      return ok({ step, steps, gateways: [...gateways], ...coverageOf({ silent: [...silent], apart }) });
    },
  } satisfies Partial<AdminOperations>;
}

interface HistoryReadings {
  readonly answers: HistoryAnswer[];
  readonly gateways: Set<string>;
  readonly silent: Set<string>;
  readonly apart: string | null;
}

function readHistory(heard: Omit<HistoryReadings, 'apart'>, { answers, silent }: PeerAnswers<HistoryAnswer>): void {
  for (const { gateway, answer } of answers) {
    heard.gateways.add(gateway);
    heard.answers.push(answer);
  }
  for (const gateway of silent) heard.silent.add(gateway);
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
