import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createRanking } from '../../src/ledger/ranking.ts';
import { createRecorder } from '../../src/ledger/recorder.ts';
import {
  createReport,
  DIMENSIONS,
  type Dimension,
  dimensionsOf,
  FIGURES,
} from '../../src/ledger/report.ts';
import { packRows, UsageTable } from '../../src/ledger/usage-table.ts';
import { NO_CONTENT, packValue, type Value, valueIn } from '../../src/ledger/value.ts';
import type { RequestTrace } from '../../src/observe/events.ts';
import { requestEvent } from '../support/request-event.ts';

const NOON = Date.UTC(2026, 0, 1, 12);
const MINUTE = 60_000;

/** Names that JavaScript, CSV and joined texts may take for something else. */
const HOSTILE = ['null', 'undefined', '0', '', ' ', 'a', 'a b', 'b', '__proto__', 'constructor'];
const name = fc.constantFrom(...HOSTILE);
const sent = fc.record({
  keyId: fc.option(name),
  account: fc.option(name),
  plan: fc.option(name),
  operation: fc.constantFrom(...HOSTILE, 'a/b', 'a/null', 'b/', 'c/a/b'),
  status: fc.constantFrom(200, 429, 499),
  code: fc.option(fc.constantFrom('rate_limit_exceeded', 'null')),
});
type Sent = typeof sent extends fc.Arbitrary<infer One> ? One : never;

/** What one process has stored of requests of one unit. */
function counted(requests: readonly Sent[]): Value {
  const recorder = createRecorder(
    () => NOON,
    () => {},
  );
  const trace = { admission: null, subject: null, cost: 1, received: 0, sent: 0 };
  for (const request of requests)
    recorder.observe(requestEvent({ ...request, trace: trace as unknown as RequestTrace }));
  const head = { start: NOON, span: MINUTE, policies: 0, sources: {} };
  return valueIn(packValue(head, { ...NO_CONTENT, usage: [packRows(recorder.minute.usage)] }));
}

const APIS = ['default', 'a', 'b'];

const apiOf = ({ operation }: Pick<Sent, 'operation'>, apis: readonly string[]): string | null =>
  apis.find((api) => operation.startsWith(`${api}/`)) ??
  apis.find((api) => api === 'default') ??
  null;

function countsBy<T>(all: readonly T[], nameOf: (one: T) => unknown): Map<string, number> {
  const groups = Map.groupBy(all, (one) => JSON.stringify(nameOf(one)));
  return new Map([...groups].map(([group, of]) => [group, of.length]));
}

describe('of clients with any names', () => {
  const requests = fc.array(sent, { minLength: 1, maxLength: 40 });

  test('a report has one row for each, with its requests alone, also filtered by name', async () => {
    const dimensions = fc.subarray(DIMENSIONS.filter((one) => !/day|hour|minute/.test(one)));
    const apis = fc.subarray(APIS);
    const filtered = fc.option(
      fc.tuple(fc.constantFrom('account', 'key', 'plan', 'api', 'operation'), name),
    );
    await fc.assert(
      fc.asyncProperty(requests, dimensions, filtered, apis, async (all, by, filter, names) => {
        const question = {
          from: NOON,
          to: NOON,
          by,
          apis: new Set(names),
          filter: filter === null ? {} : { [filter[0]]: filter[1] },
        };
        const report = createReport(question);
        await report.add(counted(all));
        const columns = dimensionsOf(question);
        const found = [...report.rows()].flat();
        const shown = found.map((row) => JSON.stringify(row.slice(0, columns.length)));
        const counts = found.map((row) => row[columns.length + FIGURES.indexOf('requests')]);
        const cellOf = ({ keyId: key, ...rest }: Sent, column: Dimension) =>
          ({ key, ...rest, api: apiOf(rest, names) })[column as 'key'];
        const expected = countsBy(
          all.filter((one) => filter === null || cellOf(one, filter[0] as Dimension) === filter[1]),
          (one) => columns.map((column) => cellOf(one, column)),
        );
        expect(new Set(shown).size).toBe(shown.length);
        expect(new Map(shown.map((row, i) => [row, counts[i]]))).toEqual(expected);
      }),
    );
  });

  test.each(['requests', 'operations'] as const)('a ranking by %s merges none', async (by) => {
    const isOfA = (operation: string) => operation.startsWith('a/');
    const filter = fc.constantFrom(isOfA, undefined);
    await fc.assert(
      fc.asyncProperty(requests, filter, async (sent, includes) => {
        const all = sent.filter(({ operation }) => includes?.(operation) ?? true);
        const ranking = createRanking(by, includes);
        for (const rows of counted(sent).usage()) ranking.add(rows);
        const found = ranking
          .items(1_000)
          .map((item): [string, number] => [
            JSON.stringify(by === 'requests' ? item.client!.key : item.operation),
            item.count,
          ]);
        const isRefused = ({ code, status }: Sent) => code !== null && status === 429;
        const expected =
          by === 'requests'
            ? countsBy(
                all.filter(({ keyId }) => keyId !== null),
                ({ keyId }) => keyId,
              )
            : countsBy(all.filter(isRefused), ({ operation }) => operation);
        expect(found).toHaveLength(expected.size);
        expect(new Map(found)).toEqual(expected);
      }),
    );
  });
});

test('a report adds up more requests than a stored row can have', async () => {
  const table = new UsageTable();
  const { names } = table;
  const client = names.client({ key: 'a', account: 'a', plan: 'free' });
  const outcome = { status: 200, code: null, verdict: 'admitted', deprecated: false };
  const row = table.row(client, names.operation('list'), names.outcome(outcome));
  const most = 2 ** 32 - 1;
  const columns = [0, 0, 0, most, 0, 0, 0, 0, 0, 1, most, 0, 0];
  table.add(
    row,
    columns.map((number) => [number]),
    0,
  );
  const head = { start: NOON, span: MINUTE, policies: 0, sources: {} };
  const value = valueIn(packValue(head, { ...NO_CONTENT, usage: [packRows(table)] }));
  const report = createReport({ from: NOON, to: NOON, by: ['key'], filter: {} });
  for (let times = 0; times < 3; times++) await report.add(value);
  const [requests, units] = [...report.rows()][0]![0]!.slice(1);
  expect([requests, units]).toEqual([3 * most, 3 * most]);
});
