import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { DIMENSIONS, report } from '../../../src/ledger/report.ts';
import { fileSource } from '../../../src/records/transfer/file-reader.ts';
import { folderTarget } from '../../../src/records/transfer/folder.ts';
import { readUsageIn } from '../../../src/state/usage-folder.ts';
import { readerOf } from '../../support/ledger.ts';
import { moveAll, temporaryFolder } from '../../support/transfer.ts';

/** With hours, a day, minutes, traffic, and slices of which blocks contain some. */
const FIXTURE = join(import.meta.dirname, '../fixtures/usage-of-format-2');

test('a report of the usage in a file of format 2 is that of the version that wrote it', async () => {
  const folder = temporaryFolder();
  try {
    const clock = () => Date.UTC(2026, 9, 3);
    const target = folderTarget(folder.path, { clock, dryRun: false });
    const { leftOut } = await moveAll(await fileSource(`${FIXTURE}.ndjson`), target);
    expect(leftOut.count).toBe(0);
    const by = DIMENSIONS.filter((name) => !/day|hour|minute/.test(name));
    const question = { from: Date.UTC(2026, 9), to: Date.UTC(2026, 10), by, filter: {} };
    const rows = (
      await Array.fromAsync(report(readerOf(readUsageIn(folder.path)), question))
    ).flat();
    const sorted = (all: readonly unknown[]) => all.map((row) => JSON.stringify(row)).sort();
    const expected = JSON.parse(readFileSync(`${FIXTURE}.json`, 'utf8'));
    expect(sorted(rows)).toEqual(sorted(expected));
  } finally {
    folder.remove();
  }
});
