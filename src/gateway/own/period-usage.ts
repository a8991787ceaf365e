import type { OpenAddressWindow } from '../../common/clients/address-window.ts';
import { Outage } from '../../common/errors/outage.ts';
import { Refusal } from '../../common/errors/refusals.ts';
import { HOUR, MINUTE } from '../../common/time.ts';
import type { LedgerAccess } from '../../ledger/ledger.ts';
import { readLedger } from '../../ledger/read.ts';
import { createReport, FIGURES } from '../../ledger/report.ts';
import type { Window } from '../../limits/limits.ts';
import type { Exchange } from '../exchange.ts';
import { windowUsedUp } from '../route-refusals.ts';

/** A month of a large gateway takes half a second of CPU. */
const ALLOWANCE: Window = {
  name: 'usage of a period',
  kind: 'fixed',
  limit: 10,
  span: MINUTE,
};

/** In UTC. Times are Unix milliseconds. */
export interface UsagePeriod {
  readonly name: string;
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/** `null`: the request names no period. Throws a Refusal if it names an invalid one. */
export function periodIn(target: string): UsagePeriod | null {
  const at = target.indexOf('?');
  const name =
    at < 0 ? null : new URLSearchParams(target.slice(at)).get('period');
  if (name === null) return null;
  const [, year, month, day] = /^(\d{4})-(\d\d)(?:-(\d\d))?$/.exec(name) ?? [];
  const from = Date.UTC(Number(year), Number(month) - 1, Number(day ?? 1));
  const isDate =
    year !== undefined && new Date(from).toISOString().startsWith(name);
  if (!isDate) {
    const message =
      'must be a month or day in UTC, such as 2030-01 or 2030-01-31';
    const fault = {
      in: 'query',
      pointer: '/period',
      rule: 'format',
      message,
    } as const;
    throw new Refusal('invalid_request', {
      message: `period ${message}.`,
      details: [fault],
    });
  }
  const to =
    day === undefined
      ? Date.UTC(Number(year), Number(month))
      : Date.UTC(Number(year), Number(month) - 1, Number(day) + 1);
  return { name, from, to };
}

/** `clock`: Unix milliseconds. */
export function createPeriodUsage(
  ledger: LedgerAccess,
  clock: () => number,
  openAddressWindow: OpenAddressWindow,
) {
  const allowance = openAddressWindow(ALLOWANCE, Number.POSITIVE_INFINITY);
  /** One at a time, so that clients take at most a part of the CPU. */
  let last: Promise<unknown> = Promise.resolve();

  async function read(key: string, { name, from, to }: UsagePeriod) {
    const now = clock();
    const period = {
      from,
      to: Math.min(to, Math.ceil((now + HOUR) / HOUR) * HOUR),
    };
    const sums = createReport({
      ...period,
      by: ['operation'],
      filter: { key },
    });
    const { since, isolated } = await readLedger(ledger, {
      now,
      from,
      values: (reader) => reader.values(period, 'day'),
      each: (value) => sums.add(value),
    });
    if (isolated !== null)
      throw new Outage('state_unavailable', { cause: isolated });
    const operations = [...sums.rows()].flat().map((row) => ({
      operation: row[0],
      ...Object.fromEntries(FIGURES.map((figure, i) => [figure, row[i + 1]])),
    }));
    return {
      name,
      from: new Date(from).toISOString(),
      to: new Date(to).toISOString(),
      since: since === null ? null : new Date(since).toISOString(),
      operations,
    };
  }

  return async (exchange: Exchange, key: string, period: UsagePeriod) => {
    const usage = await allowance.take(key);
    if (usage.exhausted)
      throw windowUsedUp(
        exchange,
        usage,
        `The usage of a period can be read ${ALLOWANCE.limit} times per minute for each key: wait for Retry-After. This causes no ban.`,
      );
    const reading = last.then(() => read(key, period));
    last = reading.catch(() => {});
    return await reading;
  };
}
