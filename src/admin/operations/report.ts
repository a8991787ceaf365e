import { DAY, HOUR, MINUTE } from '../../common/time.ts';
import { readLedger } from '../../ledger/read.ts';
import {
  DIMENSIONS,
  type Dimension,
  dimensionsOf,
  FIGURES,
  type ReportQuestion,
  type ReportRow,
  report,
  spanOf,
} from '../../ledger/report.ts';
import { MINUTES } from '../../ledger/rollup.ts';
import { AdminError } from '../admin-error.ts';
import {
  type AdminOperations,
  type AnswerStream,
  Streamed,
  type Task,
} from '../call.ts';
import type { AdminContext } from '../context.ts';
import { unfitField } from '../duration.ts';
import { refuseUnknownFilters, unknownName } from '../filters.ts';
import { coverageView } from '../ledger.ts';
import { time } from '../view.ts';

type Coverage = Omit<ReturnType<typeof coverageView>, 'gateways'> & {
  readonly dropped: number;
};

export function reportOperations(context: AdminContext) {
  return {
    getUsageReport: async (task) => {
      const question = questionOf(task);
      // First, because text in columns has no place behind the rows for it.
      const answer = await readLedger(context.ledger(), {
        now: task.now,
        from: question.from,
        blocks: (reader) => reader.blocks(question, 'day'),
        each: async () => {},
      });
      const { gateways: _gateways, ...view } = coverageView(answer);
      const coverage = { ...view, dropped: answer.dropped };
      const { reader, unsent } = context.ledger();
      const rows = report(answer.isolated === null ? reader : unsent, question);
      const first = await rows.next();
      if (first.done) refuseUnknownFilters(context, task.query);
      const all = resumed(first, rows);
      const stream = streamOf(
        task.query.format ?? 'json',
        question,
        coverage,
        all,
      );
      return new Streamed({ stream, headers: headersOf(coverage) });
    },
  } satisfies Partial<AdminOperations>;
}

function questionOf({ query, now }: Task<'getUsageReport'>): ReportQuestion {
  const { account, key, plan, operation, status, deprecated = false } = query;
  const by = (query.by ?? 'account').split(',');
  const unknown = by.find(
    (name) => !(DIMENSIONS as readonly string[]).includes(name),
  );
  if (unknown !== undefined)
    throw unknownName('column', unknown, DIMENSIONS, 'by');
  const today = new Date(now);
  const month = Date.UTC(today.getUTCFullYear(), today.getUTCMonth());
  const from = query.from === undefined ? month : momentIn('from', query.from);
  const to = query.to === undefined ? now : momentIn('to', query.to);
  const grain = spanOf({ by: by as Dimension[] }) === MINUTE ? MINUTE : HOUR;
  if (grain === MINUTE && from < now - MINUTES)
    throw new AdminError(
      'invalid_value',
      'Minutes are kept for 2 hours: use a later from, or hour.',
    );
  if (to <= from) throw unfitField('to', 'must be later than from', 'query');
  const given = { account, key, plan, operation, status };
  return {
    from: Math.floor(from / grain) * grain,
    to: Math.min(
      Math.ceil(to / grain) * grain,
      Math.ceil((now + HOUR) / DAY) * DAY,
    ),
    by: by as Dimension[],
    deprecated,
    filter: Object.fromEntries(
      Object.entries(given).filter(([, value]) => value !== undefined),
    ),
  };
}

function momentIn(name: string, text: string): number {
  const at = Date.parse(text);
  if (!Number.isNaN(at)) return at;
  throw unfitField(
    name,
    'must be a date such as 2026-10-01, or a time',
    'query',
  );
}

async function* resumed<T>(
  first: IteratorResult<T>,
  rest: AsyncGenerator<T>,
): AsyncGenerator<T> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}

/** For formats without a place for it. */
function headersOf({ since, dropped, lost }: Coverage): Record<string, string> {
  return {
    'X-Usage-Since': since ?? '',
    'X-Usage-Dropped': String(dropped),
    'X-Usage-Lost': String(lost.length),
    'X-Usage-Lost-Requests': String(
      lost.reduce((sum, { requests }) => sum + requests, 0),
    ),
  };
}

function streamOf(
  format: string,
  question: ReportQuestion,
  coverage: Coverage,
  rows: AsyncIterable<readonly ReportRow[]>,
): AnswerStream {
  const columns = [...dimensionsOf(question), ...FIGURES];
  const objectOf = (row: ReportRow) =>
    JSON.stringify(
      Object.fromEntries(columns.map((name, i) => [name, row[i]])),
    );
  switch (format) {
    case 'csv':
      return { type: 'text/csv; charset=utf-8', text: csv(columns, rows) };
    case 'ndjson':
      return { type: 'application/x-ndjson', text: lines(rows, objectOf) };
    default:
      return {
        type: 'application/json; charset=utf-8',
        text: json(question, coverage, rows, objectOf),
      };
  }
}

async function* csv(
  columns: readonly string[],
  rows: AsyncIterable<readonly ReportRow[]>,
) {
  yield `${columns.join(',')}\n`;
  yield* lines(rows, (row) => row.map(cell).join(','));
}

/** RFC 4180. */
function cell(value: string | number | null): string {
  if (typeof value !== 'string') return String(value ?? '');
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

async function* lines(
  rows: AsyncIterable<readonly ReportRow[]>,
  lineOf: (row: ReportRow) => string,
) {
  for await (const part of rows)
    yield part.map((row) => `${lineOf(row)}\n`).join('');
}

async function* json(
  question: ReportQuestion,
  coverage: Coverage,
  rows: AsyncIterable<readonly ReportRow[]>,
  objectOf: (row: ReportRow) => string,
) {
  const { from, to } = question;
  const head = {
    from: time(from),
    to: time(to),
    by: dimensionsOf(question),
    ...coverage,
  };
  yield `${JSON.stringify(head).slice(0, -1)},"rows":[`;
  let separator = '';
  for await (const part of rows) {
    yield part
      .map((row) => {
        const text = separator + objectOf(row);
        separator = ',\n';
        return text;
      })
      .join('');
  }
  yield ']}';
}
