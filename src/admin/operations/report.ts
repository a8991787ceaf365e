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
  type ResponseStream,
  Streamed,
  type Task,
} from '../call.ts';
import type { AdminContext } from '../context.ts';
import { momentIn, unfitField } from '../duration.ts';
import { ofApi, refuseUnknownFilters, unknownName } from '../filters.ts';
import { coverageView, isolationText } from '../ledger.ts';
import { time } from '../view.ts';

type Coverage = Omit<ReturnType<typeof coverageView>, 'gateways'> & {
  readonly dropped: number;
};

export function reportOperations(context: AdminContext) {
  return {
    getUsageReport: async (task) => {
      ofApi(context, task.query.api);
      const question = questionOf(task, new Set(context.plans().apis));
      // First, because text in columns has no place behind the rows for it.
      const response = await readLedger(context.ledger(), {
        now: task.now,
        from: question.from,
        values: (reader) => reader.values(question, 'day'),
        each: async () => {},
      });
      const { isolated, source } = response;
      const { partial = false } = task.query;
      if (isolated !== null && !partial)
        throw new AdminError(
          'state_unavailable',
          incomplete(isolationText(context, isolated)!),
        );
      if (isolated === null) await refuseRemoved(context, question);
      const { gateways: _gateways, ...view } = coverageView(context, response);
      const coverage = { ...view, dropped: response.dropped };
      const rows = report(source, question);
      const first = await rows.next();
      if (first.done) refuseUnknownFilters(context, task.query);
      const all = resumed(first, rows);
      const stream = streamOf(
        task.query.format ?? 'json',
        question,
        coverage,
        partial ? marked(all, isolated !== null) : all,
        partial,
      );
      return new Streamed({ stream, headers: headersOf(question, coverage) });
    },
  } satisfies Partial<AdminOperations>;
}

const incomplete = (reason: string): string =>
  `${reason}, so the usage is not complete. Repeat this later, or ask for a part (partial=true, --partial): what this gateway has not stored yet.`;

/** Refuses a period for which only sums of days are left. Throws AdminError. */
async function refuseRemoved(
  { ledger }: AdminContext,
  question: ReportQuestion,
): Promise<void> {
  const { from, to, by } = question;
  const days = await ledger().reader.daysWithoutHours(question);
  const missing = days.filter(
    (day) => by.includes('hour') || day < from || day + DAY > to,
  );
  if (missing.length === 0) return;
  const [first, last] = [missing[0]!, missing.at(-1)!];
  throw by.includes('hour')
    ? unfitField(
        'from',
        `must be ${time(last + DAY)} or later, because the hours before are removed; or use day`,
        'query',
      )
    : unfitField(
        first < from ? 'from' : 'to',
        'must be the begin of a day of UTC, because the hours of that day are removed',
        'query',
      );
}

function questionOf(
  { query, now }: Task<'getUsageReport'>,
  apis: ReadonlySet<string>,
): ReportQuestion {
  const { account, key, plan, api, operation, status } = query;
  const by = (query.by ?? 'account').split(',');
  const unknown = by.find(
    (name) => !(DIMENSIONS as readonly string[]).includes(name),
  );
  if (unknown !== undefined)
    throw unknownName('column', unknown, DIMENSIONS, 'by');
  const today = new Date(now);
  const month = Date.UTC(today.getUTCFullYear(), today.getUTCMonth());
  const grain = spanOf({ by: by as Dimension[] }) === MINUTE ? MINUTE : HOUR;
  const from = wholeIn('from', query.from, grain) ?? month;
  const to = wholeIn('to', query.to, grain) ?? Math.ceil(now / grain) * grain;
  if (grain === MINUTE && from < now - MINUTES)
    throw unfitField(
      'from',
      'must be at most 2 hours ago, because minutes are kept for 2 hours; or use hour',
      'query',
    );
  if (to <= from)
    throw unfitField(
      query.to === undefined ? 'from' : 'to',
      query.to === undefined
        ? 'must be in the past'
        : 'must be later than from',
      'query',
    );
  const given = { account, key, plan, api, operation, status };
  return {
    from,
    to,
    by: by as Dimension[],
    deprecated: query.deprecated ?? false,
    apis,
    filter: Object.fromEntries(
      Object.entries(given).filter(([, value]) => value !== undefined),
    ),
  };
}

/** Usage is summed up by hours, so no sum exists for a part of one. */
function wholeIn(
  name: string,
  text: string | undefined,
  grain: number,
): number | undefined {
  const at = momentIn(name, text, { dates: true });
  if (at === undefined || at % grain === 0) return at;
  const [before, after] = [Math.floor, Math.ceil].map((round) =>
    time(round(at / grain) * grain).replace('.000', ''),
  );
  const unit = grain === HOUR ? 'hour' : 'minute';
  throw unfitField(
    name,
    `must be a whole ${unit} of UTC, by which usage is summed up: ${before} or ${after}`,
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

/** With the last column: whether the report lacks what is in the state. */
async function* marked(
  rows: AsyncIterable<readonly ReportRow[]>,
  isPartial: boolean,
): AsyncGenerator<readonly ReportRow[]> {
  for await (const part of rows)
    yield part.map((row) => [...row, String(isPartial)]);
}

/** For formats without a place for it. */
function headersOf(
  { from, to }: ReportQuestion,
  { since, dropped, lost, isolated }: Coverage,
): Record<string, string> {
  return {
    'X-Usage-From': time(from),
    'X-Usage-To': time(to),
    'X-Usage-Partial': String(isolated !== null),
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
  partial: boolean,
): ResponseStream {
  const columns = [
    ...dimensionsOf(question),
    ...FIGURES,
    ...(partial && format !== 'json' ? ['partial'] : []),
  ];
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
