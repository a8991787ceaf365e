import type { Operations } from '@storegate/admin-api';
import { DAY } from '../../common/time.ts';
import { parseDuration } from '../../config/units.ts';
import { PUBLIC_PLAN } from '../../limits/plans.ts';
import type { Span } from '../../observe/history/history.ts';
import { ALL, operationRow, POLICIES, planRow } from '../../observe/history/minute.ts';
import type { StateOutage } from '../../observe/history/outages.ts';
import { classesIn, requestsIn, statusesIn, verdictsIn } from '../../observe/history/row.ts';
import {
  HISTORY_STEPS,
  type HistoryAnswer,
  type HistoryQuery,
  history,
  historySince,
  MOST_STEPS,
  mergeHistory,
  mergeOutages,
} from '../../observe/peers/history.ts';
import { ask, completeSince, type PeerAnswers } from '../../observe/peers/peers.ts';
import { mergeTop, top } from '../../observe/peers/top.ts';
import type { Counted } from '../../observe/top/summary.ts';
import type { Counting } from '../../observe/top/top.ts';
import { AdminError } from '../admin-error.ts';
import { type AdminOperations, ok } from '../call.ts';
import type { AdminContext } from '../context.ts';
import { operationNames, refuseUnknown } from '../filters.ts';
import { latencyOf, lostView, time } from '../view.ts';

export function trafficOperations(context: AdminContext) {
  /** Splits the query by the steps that one answer may have. */
  async function askInParts(question: HistoryQuery) {
    const all: PeerAnswers<HistoryAnswer>[] = [];
    const most = MOST_STEPS * HISTORY_STEPS[question.step];
    for (let from = question.from; from < question.to; from += most) {
      const to = Math.min(question.to, from + most);
      all.push(await ask(context.peers(), history, { ...question, from, to }));
    }
    const gateways = all.flatMap((one) => one.answers);
    const answers = gateways.map(({ answer }) => answer);
    const lost = all.at(-1)?.lost ?? [];
    return {
      since: answers.length === 0 ? null : completeSince(historySince(question, answers), lost),
      steps: mergeHistory(answers),
      outages: mergeOutages(answers),
      gateways: [...new Set(gateways.map(({ gateway }) => gateway))],
      unresponsive: [...new Set(all.flatMap(({ unresponsive }) => unresponsive))],
      isolated: all.find(({ isolated }) => isolated !== null)?.isolated ?? null,
      lost,
    };
  }

  function refuseUnknownIn({ plan, operation }: Operations['getHistory']['query']): void {
    const { plans } = context.plans();
    refuseUnknown('plan', plan, [...plans.keys(), PUBLIC_PLAN]);
    refuseUnknown('operation', operation, operationNames(context));
  }

  return {
    getHistory: async ({ query, now }) => {
      const { since: period = '1d', step = '1h' } = query;
      const length = HISTORY_STEPS[step];
      const from = Math.floor((now - Math.min(DAY, parseDuration(period)!)) / length) * length;
      const { since, steps, outages, gateways, unresponsive, lost, isolated } = await askInParts({
        from,
        to: Math.max(from, now),
        step,
        row: rowOf(query),
      });
      if (steps.every(({ row }) => requestsIn(row) === 0)) refuseUnknownIn(query);
      const view = {
        step,
        since: time(since),
        steps: steps.map(stepView),
        outages: outages.map(outageView),
      };
      return ok({ ...view, gateways, lost: lostView(lost), unresponsive, isolated });
    },
    getTop: async ({ query }) => {
      const { window = 'hour', by = 'requests', limit = 20 } = query;
      const question = { window, by: by === 'near-limit' ? 'near' : by } as const;
      const { answers, unresponsive, lost, isolated } = await ask(context.peers(), top, question);
      const counts = answers.map(({ answer }) => answer);
      const { since, summary } = mergeTop(question.by, counts);
      return ok({
        window: question.window,
        by: question.by === 'near' ? 'near-limit' : question.by,
        since: answers.length === 0 ? null : time(completeSince(since, lost)),
        total: summary.total,
        error: summary.floor,
        items: summary.items.slice(0, limit).map((item) => itemView(item, summary.total)),
        gateways: answers.map(({ gateway, answer }) => ({
          gateway,
          since: time(answer.since),
          missing: answer.missing,
        })),
        unresponsive,
        isolated,
      });
    },
  } satisfies Partial<AdminOperations>;
}

function rowOf({ operation, plan }: Operations['getHistory']['query']): string {
  if (operation !== undefined && plan !== undefined)
    throw new AdminError(
      'invalid_value',
      'Ask for an operation or for a plan: both together are not counted.',
    );
  return operation !== undefined
    ? operationRow(operation)
    : plan !== undefined
      ? planRow(plan)
      : ALL;
}

function stepView({ start, minutes, policies, row }: Span) {
  return {
    at: time(start),
    minutes,
    requests: requestsIn(row),
    ...verdictsIn(row),
    classes: classesIn(row),
    statuses: Object.fromEntries(Object.entries(statusesIn(row)).filter(([, count]) => count > 0)),
    ...latencyOf(row),
    outagePolicies: policiesOf(policies),
  };
}

const outageView = ({ begin, end, policies }: StateOutage) => ({
  begin: time(begin),
  end: time(end),
  policies: policiesOf(policies),
});

const policiesOf = (bits: number) => POLICIES.filter((_policy, i) => (bits & (1 << i)) !== 0);

function itemView({ count, error, last, about }: Counted<Counting>, total: number) {
  const { keyId, account, plan, operation } = about;
  return {
    key: keyId,
    account,
    plan,
    operation,
    count,
    error,
    share: Math.round((count / total) * 10_000) / 10_000,
    last: time(last),
  };
}
