import { beforeEach, expect, test } from '@jest/globals';
import type { AuditLog } from '../../src/records/operators/audit-log.ts';
import type { Records } from '../../src/records/storage.ts';
import { note, type OpenRecords } from '../support/records.ts';

const DAY = 86_400_000;

/** What a log of bans promises besides what every log does. */
export function keepsThePromisesOfBanLog(open: OpenRecords): void {
  let one: Records;
  let other: Records;
  beforeEach(async () => {
    ({ one, other } = await open({ maxEntries: 3, bans: { maxEntries: 5, maxAge: 90 * DAY } }));
  });

  const entriesOf = async (log: AuditLog) =>
    (await log.list({ above: 0, limit: 100 })).map(
      ({ number, action, actor }) => `${number} ${action} ${actor}`,
    );

  test('what people do about bans stands in both logs, each with numbers of its own; nothing else does', async () => {
    await one.auditLog.append(note({ action: 'keys.create' }));
    await one.banLog.append(note({ action: 'bans.begin', actor: 'storegate' }));
    await one.auditLog.append(note({ action: 'bans.lift' }, 'call'));
    await one.auditLog.append(note({ action: 'bans.lift.failed' }));
    expect(await entriesOf(other.auditLog)).toEqual([
      '1 keys.create anna',
      '2 bans.lift anna',
      '3 bans.lift.failed anna',
    ]);
    expect(await entriesOf(other.banLog)).toEqual([
      '1 bans.begin storegate',
      '2 bans.lift anna',
      '3 bans.lift.failed anna',
    ]);
  });

  test('however many bans there are, they push nothing out of the audit log', async () => {
    for (const actor of ['anna', 'ben', 'carl'])
      await one.auditLog.append(note({ action: 'keys.create', actor }));
    for (let i = 0; i < 20; i++)
      await one.banLog.append(note({ action: 'bans.begin', actor: 'storegate' }));
    expect(await entriesOf(other.auditLog)).toEqual([
      '1 keys.create anna',
      '2 keys.create ben',
      '3 keys.create carl',
    ]);
    expect((await entriesOf(other.banLog)).map((line) => Number.parseInt(line, 10))).toEqual([
      16, 17, 18, 19, 20,
    ]);
  });

  test('entries that are too old go with the next one, whichever log that came through', async () => {
    for (const day of [0, 1, 91])
      await one.banLog.append(note({ at: day * DAY, action: 'bans.begin' }));
    expect((await entriesOf(other.banLog)).map((line) => Number.parseInt(line, 10))).toEqual([
      2, 3,
    ]);
    await other.auditLog.append(note({ at: 92 * DAY, action: 'bans.lift' }));
    expect((await entriesOf(one.banLog)).map((line) => Number.parseInt(line, 10))).toEqual([3, 4]);
    await one.auditLog.append(note({ at: 1_000 * DAY, action: 'bans.lift' }));
    expect(await entriesOf(one.auditLog)).toHaveLength(2);
    expect(await entriesOf(one.banLog)).toEqual(['5 bans.lift anna']);
  });

  test('entries of a clock that was ahead go with the next one that is too old', async () => {
    for (const day of [0, 300, 301, 10, 105])
      await one.banLog.append(note({ at: day * DAY, action: 'bans.begin' }));
    expect((await entriesOf(other.banLog)).map((line) => Number.parseInt(line, 10))).toEqual([5]);
    for (const day of [150, 100, 110])
      await one.banLog.append(note({ at: day * DAY, action: 'bans.begin' }));
    expect((await entriesOf(other.banLog)).map((line) => Number.parseInt(line, 10))).toEqual([
      5, 6, 7, 8,
    ]);
  });

  test('an entry of a clock that is ahead removes nothing', async () => {
    const now = Date.now();
    for (const at of [now - 80 * DAY, now, now + 401 * DAY, now + 401 * DAY, now])
      await one.banLog.append(note({ at, action: 'bans.begin' }));
    expect(await entriesOf(other.banLog)).toHaveLength(5);
  });

  test('of a name it takes one entry, also where a writer repeats it and another had it first', async () => {
    const ban = note({ action: 'bans.begin' }, 'of this ban');
    await one.banLog.append(ban);
    await expect((async () => other.banLog.append(ban))()).rejects.toThrow('already made');
    expect(await entriesOf(one.banLog)).toHaveLength(1);
  });
}
