import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { remainingIn } from '../../../src/limits/admission.ts';
import { openEmbedded } from '../../../src/records/embedded/open.ts';
import { fileSource } from '../../../src/records/transfer/file-reader.ts';
import { folderSource, folderTarget } from '../../../src/records/transfer/folder.ts';
import { KEPT } from '../../support/audit.ts';
import { DAY, limits, window } from '../../support/limits.ts';
import {
  moveAll,
  readWhole,
  sourceOf,
  temporaryFolder,
  type Whole,
} from '../../support/transfer.ts';
import { KEPT_STATE, MADE_AT } from '../fixtures/last-known.ts';

const FIXTURES = join(import.meta.dirname, '../fixtures');
const named = (pattern: RegExp) => readdirSync(FIXTURES).filter((name) => pattern.test(name));
const clock = () => MADE_AT;

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const expected = () => readWhole(sourceOf(KEPT_STATE));
/** Usage of an import of a file is the gap before it. */
const withoutMoves = (whole: Whole): Whole => ({
  ...whole,
  usage: [],
  audit: whole.audit.filter(({ action }) => action !== 'state.import'),
});

test('there is a file and a folder of every format', () => {
  expect(named(/^state-\d+\.ndjson$/)).toEqual(['state-1.ndjson', 'state-3.ndjson']);
  expect(named(/^folder-\d+$/)).toContain('folder-7');
});

describe.each(named(/^state-\d+\.ndjson$/))('%s', (name) => {
  test('is read as it was written, and taken into a folder', async () => {
    const file = join(FIXTURES, name);
    const source = await fileSource(file);
    expect(await readWhole(source)).toEqual(await expected());
    const moved = await moveAll(source, folderTarget(folder.path, { clock, dryRun: false }));
    expect(moved.leftOut.count).toBe(0);
    expect(withoutMoves(await readWhole(folderSource(folder.path, { clock })))).toEqual(
      await expected(),
    );
  });
});

describe.each(named(/^folder-\d+$/))('%s', (name) => {
  beforeEach(() => cpSync(join(FIXTURES, name), folder.path, { recursive: true }));

  test('is read as it was written', async () => {
    expect(withoutMoves(await readWhole(folderSource(folder.path, { clock })))).toEqual(
      await expected(),
    );
  });

  test('is taken by a gateway, which continues to count', async () => {
    const gateway = openEmbedded(folder.path, { clock, audit: KEPT, observe: () => {} });
    expect(await gateway.keys.find(KEPT_STATE.key[1]!.previous!.hash)).toEqual(KEPT_STATE.key[1]);
    expect((await gateway.state.bans()).map(({ subject, level }) => `${subject} ${level}`)).toEqual(
      ['key:key_bbbbbbbbbbbbbbbb 3'],
    );
    const admission = await gateway.state.look(
      'key:key_aaaaaaaaaaaaaaaa',
      limits([window(1_000, DAY)]),
    );
    expect(remainingIn(admission.readings[0]!)).toBe(10);
    expect((await gateway.tokens.list()).map((token) => token.name)).toEqual(['ci', 'look']);
    await gateway.close();
  });
});
