import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { recordsInFile } from '../../src/records/embedded/records.ts';
import type { AuditEntry } from '../../src/records/operators/audit-log.ts';
import { openStateFile } from '../../src/state/embedded/file.ts';
import { KEPT } from '../support/audit.ts';
import { commandLine } from '../support/command-line.ts';
import { TestGateway } from '../support/gateway.ts';
import { draft } from '../support/records.ts';
import { temporaryFolders } from '../support/temporary.ts';

const SETTINGS = 'audit: { maxEntries: 100 }\n';
const START = Date.parse('2030-01-31T00:00:00Z');

const folder = temporaryFolders();

interface Place {
  readonly data: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

async function running(): Promise<Place> {
  const gateway = await TestGateway.start({ settings: SETTINGS });
  const env = { STOREGATE_ADMIN_URL: gateway.adminUrl };
  return { data: gateway.config.data, cwd: gateway.folder, env, close: () => gateway.stop() };
}

async function stopped(): Promise<Place> {
  const cwd = folder();
  writeFileSync(join(cwd, 'gateway.yaml'), SETTINGS);
  const env = { STOREGATE_DATA: 'data', STOREGATE_CONFIG: 'gateway.yaml' };
  return { data: join(cwd, 'data'), cwd, env, close: async () => {} };
}

describe.each([
  ['a running gateway', running],
  ['a stopped gateway', stopped],
])('audit export of %s', (_where, start) => {
  let place: Place;
  beforeEach(async () => {
    place = await start();
  });
  afterEach(() => place.close());

  const storegate = (...args: string[]) => commandLine(place.cwd)(args, { env: place.env });

  /** One entry per second; all are kept. */
  async function write(count: number): Promise<void> {
    const db = openStateFile(place.data);
    const { auditLog } = recordsInFile(db, KEPT);
    for (let i = 1; i <= count; i++)
      await auditLog.append({
        entry: draft({ at: START + i * 1_000, target: `${i}` }),
        idempotent: null,
      });
    db.close();
  }

  /** The change that enforces the limit of the settings. */
  async function change(): Promise<void> {
    expect((await storegate('keys', 'create', '--plan', 'free', '--account', 'acme')).code).toBe(0);
  }

  const entriesIn = (text: string) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as AuditEntry);
  const numbersIn = (text: string) => entriesIn(text).map(({ number }) => number);
  const range = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, i) => from + i);

  test('prints every entry of many pages, oldest first', async () => {
    await write(1_050);
    const { code, out, err } = await storegate('audit', 'export');
    expect([code, err]).toEqual([0, '']);
    expect(numbersIn(out)).toEqual(range(1, 1_050));
    expect(entriesIn(out)[6]).toEqual({
      ...draft({ target: '7' }),
      number: 7,
      at: '2030-01-31T00:00:07.000Z',
      reason: null,
    });
  });

  test('continues after an entry, or from a time, and fails for another log', async () => {
    await write(30);
    expect(numbersIn((await storegate('audit', 'export', '--after', '27')).out)).toEqual([
      28, 29, 30,
    ]);
    expect(await storegate('audit', 'export', '--after', '30')).toEqual({
      code: 0,
      out: '',
      err: '',
    });
    const { out, err } = await storegate('audit', 'export', '--since', '2030-01-31T00:00:29Z');
    expect([numbersIn(out), err]).toEqual([[29, 30], '']);
    expect(await storegate('audit', 'export', '--after', '31')).toEqual({
      code: 1,
      out: '',
      err: 'Entry 31 does not exist (newest: 30). This is not the log that you exported from.\n',
    });
  });

  test('warns of dropped entries', async () => {
    await write(149);
    await change();
    const gone = (which: string, more = '') =>
      `${which} dropped${more}: the audit log keeps audit.maxEntries entries.\n`;
    const whole = await storegate('audit', 'export');
    expect([whole.code, numbersIn(whole.out), whole.err]).toEqual([
      0,
      range(51, 150),
      gone('Entries 1 to 50 were'),
    ]);
    expect((await storegate('audit', 'export', '--after', '49')).err).toBe(gone('Entry 50 was'));
    expect((await storegate('audit', 'export', '--after', '50')).err).toBe('');
    const early = await storegate('audit', 'export', '--since', '2030-01-31T00:00:05Z');
    expect(early.err).toBe(gone('Entries 1 to 50 were', ', and may be of this time'));
    expect(numbersIn(early.out)).toEqual(range(51, 149));
    expect((await storegate('audit', 'export', '--since', '2030-01-31T00:01:00Z')).err).toBe('');
  });
});
