import type { UsageReport } from '@storegate/admin-api';
import { number, plural } from '@storegate/admin-api/text';
import { h } from 'preact';
import { useState } from 'preact/hooks';
import { useQuery } from '../../api/hooks.ts';
import { total } from '../../format.ts';
import { Chart } from '../../parts/chart.ts';
import {
  countColumn,
  isKeyId,
  operationColumn,
  Table,
} from '../../parts/data.ts';
import { Choice } from '../../parts/fields.ts';
import { OUTCOMES, type Outcome, outcomeSeries } from '../../parts/series.ts';
import { queryView } from '../../parts/view.ts';
import type { UsageRow } from '../usage/rows.ts';
import { outcomeOf, refusalsIn, requestsOf, startsOf } from './usage-steps.ts';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

/** `back`: milliseconds before now; 0: since midnight, by the clock of the reader. */
const SPANS = {
  hour: { text: 'the last hour', by: 'minute', length: MINUTE, back: HOUR },
  today: { text: 'since this morning', by: 'hour', length: HOUR, back: 0 },
  day: { text: 'the last day', by: 'hour', length: HOUR, back: DAY },
  month: { text: 'the last 30 days', by: 'day', length: DAY, back: 30 * DAY },
} as const;
type Span = (typeof SPANS)[keyof typeof SPANS];

const OPTIONS = Object.entries(SPANS).map(
  ([name, { text }]) => [name, text] as const,
);

/** The begin moves in few steps, because another begin is another question. */
function beginOf({ back, length }: Span): string {
  const at = back === 0 ? new Date().setHours(0, 0, 0, 0) : Date.now() - back;
  const step = Math.min(10 * length, HOUR);
  return new Date(Math.floor(at / step) * step).toISOString();
}

/** What became of the requests of a key or an account, and what was refused of them, and why. */
export function Traffic({ name }: { name: string }) {
  const [chosen, setChosen] = useState<keyof typeof SPANS>('day');
  const span = SPANS[chosen];
  const from = beginOf(span);
  const query = useQuery('getUsageReport', {
    params: {
      [isKeyId(name) ? 'key' : 'account']: name,
      from,
      by: `${span.by},operation,status,code`,
      partial: true,
    },
    every: 60_000,
  });
  return h('section', { 'aria-label': 'Requests' }, [
    h('div', { class: 'section-head' }, [
      h('h2', null, 'Requests'),
      h(Choice, {
        label: 'In',
        options: OPTIONS,
        value: chosen,
        onChoice: (one) => setChosen(one as keyof typeof SPANS),
      }),
    ]),
    queryView(query, (report) => [
      h(Charts, { report, span, from }),
      h(Refusals, { rows: report.rows }),
    ]),
  ]);
}

interface ChartsProps {
  readonly report: UsageReport;
  readonly span: Span;
  readonly from: string;
}

function Charts({ report: { rows, since }, span, from }: ChartsProps) {
  const starts = startsOf(from, span);
  const byOutcome = Map.groupBy(rows, outcomeOf);
  const countsOf = (outcome: Outcome) =>
    requestsOf(byOutcome.get(outcome) ?? [], starts, span, since);
  const chart = {
    kind: 'bars',
    starts,
    grain: span.by,
    format: number,
  } as const;
  const isRefused = rows.some((row) => outcomeOf(row) !== 'answered');
  return h('div', { class: 'charts' }, [
    h(Chart, {
      ...chart,
      key: `requests ${span.by}`,
      title: `Requests per ${span.by}`,
      series: outcomeSeries(countsOf),
    }),
    isRefused &&
      h(Chart, {
        ...chart,
        key: `refusals ${span.by}`,
        title: `Refusals and failures per ${span.by}`,
        series: outcomeSeries(
          countsOf,
          OUTCOMES.filter((outcome) => outcome !== 'answered'),
        ),
      }),
  ]);
}

/** Failures of backends have a status only. */
const reasonOf = ({ code, status }: UsageRow): string =>
  code ?? `${status} of the backend`;

function Refusals({ rows }: { rows: readonly UsageRow[] }) {
  const refusals = refusalsIn(rows);
  const all = total(rows, ({ requests }) => requests);
  const refused = total(refusals, ({ requests }) => requests);
  return [
    h(
      'p',
      { class: 'about' },
      `${plural(all, 'request')}, ${number(refused)} refused or failed.`,
    ),
    refusals.length > 0 &&
      h(Table<UsageRow>, {
        caption: 'Refusals and failures by code and operation',
        rows: refusals,
        keyOf: (row) => `${row.status} ${row.code} ${row.operation}`,
        columns: [
          ['Code', reasonOf, 'names'],
          operationColumn('Operation', 'operation'),
          ['Status', ({ status }) => status, 'figure'],
          countColumn('Requests', 'requests'),
        ],
      }),
  ];
}
