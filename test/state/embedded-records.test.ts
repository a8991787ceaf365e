import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { IDEMPOTENCY_LIFETIME } from '../../src/operators/audit-log.ts';
import { openStateFile } from '../../src/state/embedded/file.ts';
import { recordsInFile } from '../../src/state/embedded/open.ts';
import { entries, note } from '../support/records.ts';
import { keepsThePromisesOfRecords } from './records-contract.ts';

describe('in the embedded state file', () => {
  let close = () => {};
  afterEach(() => close());

  async function open() {
    const folder = mkdtempSync(join(tmpdir(), 'storegate-'));
    const files = [openStateFile(folder), openStateFile(folder)] as const;
    close = () => {
      for (const file of files) file.close();
      rmSync(folder, { recursive: true });
    };
    return { one: recordsInFile(files[0]), other: recordsInFile(files[1]) };
  }

  keepsThePromisesOfRecords(open);

  test('an answer is forgotten when its lifetime is over, by the clock of the calls', async () => {
    const { one } = await open();
    await one.auditLog.append(note({ at: 5_000 }, 'call'));
    const end = 5_000 + IDEMPOTENCY_LIFETIME;
    expect(await one.auditLog.answered('call', end)).not.toBeNull();
    expect(await one.auditLog.answered('call', end + 1)).toBeNull();
    await one.auditLog.append(note({ at: end + 1 }, 'call'));
    expect(await entries(one)).toHaveLength(2);
  });
});
