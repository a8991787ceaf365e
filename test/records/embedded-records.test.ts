import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { FORGET_OLD } from '../../src/records/embedded/log.ts';
import { recordsInFile } from '../../src/records/embedded/records.ts';
import { entryQuery } from '../../src/records/model/entries.ts';
import { KEY_QUERIES } from '../../src/records/model/keys.ts';
import { IDEMPOTENCY_LIFETIME } from '../../src/records/operators/audit-log.ts';
import { openStateFile } from '../../src/state/embedded/file.ts';
import { KEPT } from '../support/audit.ts';
import { entries, note } from '../support/records.ts';
import { keepsThePromisesOfRecords } from './records-contract.ts';

describe('in the embedded state file', () => {
  let close = () => {};
  let files: ReturnType<typeof openStateFile>[];
  afterEach(() => close());

  async function open(audit = KEPT) {
    const folder = mkdtempSync(join(tmpdir(), 'storegate-'));
    files = [openStateFile(folder), openStateFile(folder)];
    close = () => {
      for (const file of files) file.close();
      rmSync(folder, { recursive: true });
    };
    return { one: recordsInFile(files[0]!, audit), other: recordsInFile(files[1]!, audit) };
  }

  keepsThePromisesOfRecords(open);

  test('a bound of the audit log that was lowered is reached a thousand entries at a time', async () => {
    const { auditLog } = (await open()).one;
    await Promise.all(Array.from({ length: 1_300 }, async () => auditLog.append(note())));
    const narrow = recordsInFile(files[0]!, { ...KEPT, maxEntries: 20 });
    const kept = async () => {
      const all = await entries(narrow);
      return [all[0]!.number, all.at(-1)!.number];
    };
    await narrow.auditLog.append(note());
    expect(await kept()).toEqual([1_001, 1_301]);
    await narrow.auditLog.append(note());
    expect(await kept()).toEqual([1_283, 1_302]);
  });

  test('an answer is forgotten when its lifetime is over, by the clock of the calls', async () => {
    const { one } = await open();
    await one.auditLog.append(note({ at: 5_000 }, 'call'));
    const end = 5_000 + IDEMPOTENCY_LIFETIME;
    expect(await one.auditLog.resultOf('call', end)).not.toBeNull();
    expect(await one.auditLog.resultOf('call', end + 1)).toBeNull();
    await one.auditLog.append(note({ at: end + 1 }, 'call'));
    expect(await entries(one)).toHaveLength(2);
  });

  const PLANS_OF_QUERIES: [name: string, query: string, index: string][] = [
    ['keys', KEY_QUERIES.page({}), 'keys_by_age'],
    ['keys, newest first', KEY_QUERIES.page({ newestFirst: true }), 'keys_by_age'],
    ['keys of an account', KEY_QUERIES.page({ account: 'a' }), 'keys_by_account'],
    ['keys of a plan', KEY_QUERIES.page({ plan: 'p' }), 'keys_by_plan'],
    [
      'keys of a plan, newest first',
      KEY_QUERIES.page({ plan: 'p', newestFirst: true }),
      'keys_by_plan',
    ],
    [
      'keys of an account and plan',
      KEY_QUERIES.page({ account: 'a', plan: 'p' }),
      'keys_by_account',
    ],
    ['the next account', KEY_QUERIES.nextAccount, 'keys_by_account'],
    ['expiring keys', KEY_QUERIES.expiring, 'keys_expiring'],
    ['old answers', FORGET_OLD, 'results_by_age'],
    ['bans of a target', entryQuery('bans', { target: 'a' }), 'bans_by_target'],
    [
      'later entries of a target',
      entryQuery('audit', { target: 'a', above: 1 }),
      'audit_by_target',
    ],
  ];

  test.each(PLANS_OF_QUERIES)(
    '%s are found by an index, in its order',
    async (_name, query, index) => {
      await open();
      const plan = files[0]!
        .prepare(`EXPLAIN QUERY PLAN ${query}`)
        .all()
        .map(({ detail }) => String(detail));
      expect(plan.some((step) => step.startsWith('SEARCH') && step.includes(`${index} `))).toBe(
        true,
      );
      // Neither reads a table from its start nor sorts.
      expect(
        plan.filter((step) => /SCAN (keys|audit|bans|idempotent_results)|TEMP B-TREE/.test(step)),
      ).toEqual([]);
    },
  );
});
