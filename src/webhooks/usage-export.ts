import { createHash } from 'node:crypto';
import { SECOND } from '../common/time.ts';
import type { Config } from '../config/config.ts';
import type { Block } from '../ledger/block.ts';
import type { UsageReceiver } from '../ledger/ledger.ts';
import {
  DIMENSIONS,
  FIGURES,
  Report,
  type ReportRow,
} from '../ledger/report.ts';
import type { Observe } from '../observe/events.ts';
import { pauseAfter } from './backoff.ts';
import { known, timeOf } from './event.ts';
import { send } from './send.ts';

/** Some 200 KiB. */
const BATCH_SIZE = 500;
/** Milliseconds of a block, after which the next turn continues, and the longest of a response. */
const ATTEMPT = 5 * SECOND;
const TIMEOUT = 10 * SECOND;
/** The time of an event is its minute. */
const BY = DIMENSIONS.filter(
  (name) => !['day', 'hour', 'minute'].includes(name),
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
 * block, so that each attempt of any gateway makes the same ids.
 */
export async function usageEventsOf(
  name: string,
  block: Block,
): Promise<UsageEvent[]> {
  const question = {
    from: block.start,
    to: block.start + block.span,
    by: BY,
    filter: {},
  };
  const report = new Report(question, block.start);
  await report.add(block);
  const time = timeOf(block.start);
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
        data: known(data) as UsageEvent['data'],
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

/** Signs as webhooks do. `null`: `usage.export.url` is not set. */
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
  const cut = new AbortController();
  let failures = 0;
  /** How many events of the block were accepted: a large one takes several turns. */
  let accepted = { name: '', events: 0 };
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
    if (signal.aborted && !sent.delivered) return false;
    const endpoint = new URL(url).host;
    if (!sent.delivered) {
      if (failures === 0)
        observe({ type: 'usage.export_failed', endpoint, error: sent.error });
      failures++;
      pausedUntil =
        clock() + pauseAfter(failures, sent.retryAfter, Math.random());
    } else if (failures > 0) {
      observe({ type: 'usage.export_recovered', endpoint, failures });
      failures = 0;
    }
    return sent.delivered;
  };

  return {
    async sendUsage(name, block) {
      if (clock() < pausedUntil) return false;
      const events = await usageEventsOf(name, block);
      const end = performance.now() + ATTEMPT;
      let at = accepted.name === name ? accepted.events : 0;
      while (at < events.length && performance.now() < end) {
        if (!(await post(events.slice(at, at + BATCH_SIZE)))) return false;
        at += BATCH_SIZE;
        accepted = { name, events: at };
      }
      return at >= events.length;
    },
    close: () => cut.abort(),
  };
}

const valuesOf = (row: ReportRow) =>
  Object.fromEntries(COLUMNS.map((name, i) => [name, row[i] ?? null]));

const digestOf = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, 32);
