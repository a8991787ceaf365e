import { createHash } from 'node:crypto';
import { SECOND } from '../common/time.ts';
import type { Config } from '../config/config.ts';
import type { UsageReceiver } from '../ledger/ledger.ts';
import {
  createReport,
  DIMENSIONS,
  FIGURES,
  type ReportRow,
} from '../ledger/report.ts';
import type { Value } from '../ledger/value.ts';
import type { Observe } from '../observe/events.ts';
import { pauseAfter } from './backoff.ts';
import { timeOf, withoutEmpty } from './event.ts';
import { send } from './send.ts';

/** Some 200 KiB. */
const BATCH_SIZE = 500;
/** Milliseconds of a block, after which the next turn continues, and the longest of a response. */
const ATTEMPT = 5 * SECOND;
const TIMEOUT = 10 * SECOND;
/** Statuses that refuse the content of a batch: it would be refused again. */
const REFUSES_CONTENT: readonly (number | null)[] = [400, 413, 422];
/** Refused batches of a block after which the billing system is taken to refuse everything. */
const MOST_REFUSED = 20;
/** The time of an event is its minute; its operation names the API. */
const BY = DIMENSIONS.filter(
  (name) => !['day', 'hour', 'minute', 'api'].includes(name),
);
/** The rest are durations. */
const COLUMNS = [...BY, ...FIGURES.slice(0, FIGURES.indexOf('within10ms'))];

/** CloudEvents 1.0.2. */
export interface UsageEvent {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: 'storegate';
  readonly type: 'storegate.usage';
  /** The account. */
  readonly subject: string;
  /** Begin of the minute, ISO 8601. */
  readonly time: string;
  readonly data: Readonly<Record<string, string | number>>;
}

/**
 * Usage of requests with a key, by account, key, plan, operation, status and code. `name` is of the
 * value, so that each attempt of any gateway makes the same ids.
 */
async function usageEventsOf(
  name: string,
  value: Value,
): Promise<UsageEvent[]> {
  const question = {
    from: value.start,
    to: value.start + value.span,
    by: BY,
    filter: {},
  };
  const report = createReport(question, value.start);
  await report.add(value);
  const time = timeOf(value.start);
  return [...report.rows()].flat().flatMap((row) => {
    const { account, ...data } = valuesOf(row);
    if (typeof account !== 'string') return [];
    const id = digestOf(JSON.stringify([name, ...row.slice(0, BY.length)]));
    const head = {
      specversion: '1.0',
      id,
      source: 'storegate',
      type: 'storegate.usage',
    } as const;
    return [
      {
        ...head,
        subject: account,
        time,
        data: withoutEmpty(data) as UsageEvent['data'],
      },
    ];
  });
}

export interface UsageExportOptions {
  readonly config: Pick<Config, 'usage' | 'webhooks'>;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly observe: Observe;
}

/**
 * Signs as webhooks do. A batch whose content is refused is halved, down to single events, which
 * are set aside and reported if the billing system accepts others. `null`: `usage.export.url` is
 * not set.
 */
export function createUsageExport({
  config,
  clock,
  observe,
}: UsageExportOptions): UsageReceiver | null {
  const { url, token } = config.usage.export;
  if (url === null) return null;
  const headers = {
    'content-type': 'application/cloudevents-batch+json; charset=utf-8',
    ...(token !== null && { authorization: `Bearer ${token}` }),
  };
  const endpoint = new URL(url).host;
  const cut = new AbortController();
  let failures = 0;
  /** Events of the block without a response, by place. A large one takes several turns. */
  let open = { name: '', batches: [] as Batch[] };
  /** Unix milliseconds. */
  let pausedUntil = 0;

  const post = async (events: readonly UsageEvent[]) => {
    const { signal } = cut;
    const sent = await send({
      url,
      message: { id: events[0]!.id, body: JSON.stringify(events) },
      headers,
      settings: {
        ...config.webhooks,
        timeout: Math.min(config.webhooks.timeout, TIMEOUT),
      },
      now: clock(),
      signal,
    });
    if (sent.delivered && failures > 0) {
      observe({ type: 'usage.export_recovered', endpoint, failures });
      failures = 0;
    }
    return sent;
  };

  function fail(error: string) {
    if (failures === 0)
      observe({ type: 'usage.export_failed', endpoint, error });
    failures++;
  }

  function setAside({ id, subject, time, data }: UsageEvent, error: string) {
    const { requests, units } = data as Record<'requests' | 'units', number>;
    const about = { id, account: subject, minute: time, requests, units };
    observe({ type: 'usage.export_refused', endpoint, error, ...about });
  }

  return {
    async sendUsage(name, value, accepts) {
      if (clock() < pausedUntil) return 'waits';
      const events = await usageEventsOf(name, value);
      if (events.length === 0) return 'empty';
      if (open.name !== name) open = { name, batches: batchesOf(events) };
      const { batches } = open;
      const alone: Batch[] = [];
      const end = performance.now() + ATTEMPT;
      let hasAccepted = accepts;
      let refused = 0;
      let error = '';
      while (batches.length > 0 && performance.now() < end) {
        const { from, to } = batches[0]!;
        const sent = await post(events.slice(from, to));
        if (sent.delivered) hasAccepted = true;
        else if (!REFUSES_CONTENT.includes(sent.status)) {
          batches.push(...alone);
          if (cut.signal.aborted) return 'waits';
          fail(sent.error);
          pausedUntil =
            clock() + pauseAfter(failures, sent.retryAfter, Math.random());
          return 'waits';
        } else {
          error = sent.error;
          refused++;
          if (to - from > 1) batches.push(...halvesOf({ from, to }));
          else alone.push({ from, to });
        }
        batches.shift();
        if (!hasAccepted && refused === MOST_REFUSED) break;
      }
      if (hasAccepted)
        for (const { from } of alone) setAside(events[from]!, error);
      else batches.push(...alone);
      if (batches.length === 0) return 'accepted';
      if (hasAccepted || refused === 0) return 'waits';
      fail(error);
      return 'refused';
    },
    close: () => cut.abort(),
  };
}

/** Places of events, without `to`. */
interface Batch {
  readonly from: number;
  readonly to: number;
}

function batchesOf({ length }: readonly UsageEvent[]): Batch[] {
  const count = Math.ceil(length / BATCH_SIZE);
  return Array.from({ length: count }, (_, i) => ({
    from: i * BATCH_SIZE,
    to: Math.min((i + 1) * BATCH_SIZE, length),
  }));
}

function halvesOf({ from, to }: Batch): Batch[] {
  const middle = Math.ceil((from + to) / 2);
  return [
    { from, to: middle },
    { from: middle, to },
  ];
}

const valuesOf = (row: ReportRow) =>
  Object.fromEntries(COLUMNS.map((name, i) => [name, row[i] ?? null]));

const digestOf = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, 32);
