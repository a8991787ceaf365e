import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { fileSource } from '../../../src/records/transfer/file-reader.ts';
import { fileTarget } from '../../../src/records/transfer/file-writer.ts';
import {
  hashOf,
  movable,
  movableEntry,
  moveAll,
  readWhole,
  someState,
  sourceOf,
  temporaryFolder,
} from '../../support/transfer.ts';

const NOW = Date.UTC(2026, 10, 21);
let folder: ReturnType<typeof temporaryFolder>;
let path: string;
beforeEach(async () => {
  folder = temporaryFolder();
  path = join(folder.path, 'state.ndjson');
  await write(path);
});
afterEach(() => folder.remove());

const header = { from: 'embedded', storegate: '0.1.0', at: new Date(NOW).toISOString() };

async function write(file: string): Promise<void> {
  await moveAll(sourceOf(someState(NOW)), fileTarget(file, header));
}

const linesOf = () => readFileSync(path, 'utf8').trimEnd().split('\n');

/** Writes the lines with a trailer that fits them, as somebody would who edits a file with care. */
function rewrite(lines: readonly string[]): void {
  const [trailer, ...rest] = lines.toReversed();
  const text = rest
    .toReversed()
    .map((line) => `${line}\n`)
    .join('');
  const counts = { key: 0, token: 0, audit: 0, ban: 0, counters: 0, use: 0 };
  for (const line of rest) {
    const type = /^{"type":"(\w+)"/.exec(line)?.[1];
    if (type && type in counts) counts[type as keyof typeof counts] += 1;
  }
  const sealed = {
    ...(JSON.parse(trailer!) as object),
    counts,
    sha256: createHash('sha256').update(text).digest('hex'),
  };
  writeFileSync(path, `${text}${JSON.stringify(sealed)}\n`);
}

/** Changes the fields of the first line of a type. */
function changeFirst(type: string, change: (record: Record<string, unknown>) => unknown): number {
  const lines = linesOf();
  const at = lines.findIndex((line) => line.startsWith(`{"type":"${type}"`));
  const record = JSON.parse(lines[at]!) as Record<string, unknown>;
  const changed = change(record) ?? record;
  lines[at] = typeof changed === 'string' ? changed : JSON.stringify(changed);
  rewrite(lines);
  return at + 1;
}

describe('a file of a state', () => {
  test('is whole, ordered, sealed, and readable by its owner alone', async () => {
    const lines = linesOf();
    expect(JSON.parse(lines[0]!)).toEqual({
      type: 'header',
      format: 'storegate-state',
      version: 1,
      ...header,
    });
    expect(lines.map((line) => JSON.parse(line).type)).toEqual([
      'header',
      'key',
      'key',
      'key',
      'token',
      'audit',
      'audit',
      'audit',
      'ban',
      'ban',
      'counters',
      'counters',
      'counters',
      'use',
      'use',
      'trailer',
    ]);
    expect(JSON.parse(lines.at(-1)!)).toEqual({
      type: 'trailer',
      counts: { key: 3, token: 1, audit: 3, ban: 2, counters: 3, use: 2 },
      sha256: createHash('sha256')
        .update(`${lines.slice(0, -1).join('\n')}\n`)
        .digest('hex'),
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder.path)).toEqual(['state.ndjson']);
    const whole = await readWhole(await fileSource(path));
    expect(whole).toEqual(await readWhole(sourceOf(someState(NOW))));
  });

  test('omits bans if there are none, so that versions without a ban log can read it', async () => {
    const other = join(folder.path, 'other.ndjson');
    const without = { ...someState(NOW), ban: [] };
    await moveAll(sourceOf(without), fileTarget(other, header));
    expect(readFileSync(other, 'utf8')).not.toContain('"ban"');
    expect(await readWhole(await fileSource(other))).toEqual(await readWhole(sourceOf(without)));
  });

  test('says the scopes of keys that have some, so that versions without scopes can read the others', async () => {
    const other = join(folder.path, 'other.ndjson');
    const key = [movable(1), movable(2, { scopes: ['pets:write', 'backend:admin'] })];
    await moveAll(sourceOf({ ...someState(NOW), key }), fileTarget(other, header));
    const written = readFileSync(other, 'utf8').split('\n');
    expect(written.filter((line) => line.includes('scopes'))).toEqual([
      expect.stringContaining('"scopes":["pets:write","backend:admin"]'),
    ]);
    expect((await readWhole(await fileSource(other))).key).toEqual(key);
  });

  test('has no name until it is whole, and takes no name that is taken', async () => {
    await expect(async () => write(path)).rejects.toThrow(/is there already/);
    const other = join(folder.path, 'other.ndjson');
    const file = fileTarget(other, header);
    await file.add({ type: 'key', values: [movable(1)] });
    expect(existsSync(other)).toBe(false);
    await file.close();
    expect(readdirSync(folder.path)).toEqual(['state.ndjson']);
    const late = fileTarget(other, header);
    writeFileSync(other, 'mine');
    await expect(late.finish(movableEntry(1))).rejects.toThrow(/is there already/);
    await late.close();
    expect(readFileSync(other, 'utf8')).toBe('mine');
    expect(readdirSync(folder.path)).toEqual(['other.ndjson', 'state.ndjson']);
  });

  test('that changes between its check and its use is refused', async () => {
    const checked = await fileSource(path);
    writeFileSync(path, readFileSync(path, 'utf8').replace('"account":"acme"', '"account":"evil"'));
    await expect(readWhole(checked)).rejects.toThrow(/was changed while it was read/);
  });
});

type Change = (record: Record<string, unknown>) => unknown;
const set =
  (name: string, value: unknown): Change =>
  (record) => ({ ...record, [name]: value });
const drop =
  (name: string): Change =>
  ({ [name]: _, ...rest }) =>
    rest;

/** Which line is broken, how, and the message. */
const SPOILT: readonly (readonly [type: string, what: string, change: Change, message: RegExp])[] =
  [
    ['header', 'another format', set('format', 'other'), /not a state file of storegate/],
    ['header', 'a newer version', set('version', 2), /has format 2, and this storegate reads 1/],
    ['header', 'no time', drop('at'), /must say when/],
    ['key', 'text', () => 'no json', /not JSON/],
    ['key', 'a list', () => '[]', /not a JSON object/],
    ['key', 'another type', set('type', 'other'), /unknown type "other"/],
    ['key', 'half a character', () => '{"type":"key","label":"\\ud800"}', /half a character/],
    ['key', 'a field missing', drop('plan'), /key: plan is missing/],
    ['key', 'a field more', set('secret', 'x'), /unknown here: "secret"/],
    ['key', 'an id of another form', set('id', '{evil}'), /key: id must be the id of a key/],
    ['key', 'a version of 0', set('version', 0), /key: version must be a whole number/],
    ['key', 'an invalid hash', set('hash', 'abc'), /key: hash must be a SHA-256/],
    ['key', 'a number as text', set('createdAt', '5'), /key: createdAt must be a whole number/],
    ['key', 'a time beyond all', set('expiresAt', 1e17), /key: expiresAt must be a whole number/],
    ['key', 'an account of another form', set('account', 'a b'), /an account is 1 to 64/],
    ['key', 'an invalid address', set('addresses', ['x']), /is not an address, or a block/],
    ['key', 'an invalid scope', set('scopes', ['a,b']), /scope 1 is not a valid scope name/],
    ['key', 'a scope twice', set('scopes', ['a', 'a']), /scope 2 is there before/],
    ['key', 'scopes too many', set('scopes', Array(33).fill('a')), /scopes must have at most 32/],
    ['key', 'scopes that are not a list', set('scopes', null), /scopes must be a list/],
    ['key', 'metadata that is not text', set('metadata', { a: 1 }), /metadata must hold text/],
    ['key', 'no windows', set('windows', []), /windows/],
    [
      'key',
      'a window whose span is not that of its name',
      set('windows', [{ name: 'minute', kind: 'fixed', limit: 1, span: 5 }]),
      /spans that are not those of their names/,
    ],
    ['token', 'an unknown role', set('role', 'god'), /role must be one of read, operate, admin/],
    ['audit', 'no number', set('number', 0), /audit: number must be/],
    ['ban', 'a number that falls', set('number', 99), /numbers of ban entries must rise/],
    ['audit', 'a number that falls', set('number', 99), /numbers of audit entries must rise/],
    [
      'counters',
      'a subject of another form',
      set('subject', 'key:{x}'),
      /counters: subject must be/,
    ],
    ['counters', 'too few cells', set('cells', [1]), /cells must be 2 numbers/],
    ['counters', 'a cell below 0', set('cells', [1, -1]), /cells\[1\] must be a whole number/],
    [
      'counters',
      'a window that opens after all time',
      set('cells', [9e15, 1]),
      /a time that no clock shows/,
    ],
    ['counters', 'no windows', set('windows', []), /windows must be different ones/],
    [
      'counters',
      'an unknown kind',
      set('windows', [{ kind: 'x', span: 5 }]),
      /windows\[0\]\.kind must be one of/,
    ],
    [
      'counters',
      'an invalid scope',
      set('windows', [{ kind: 'fixed', span: 5, scope: 'a,b' }]),
      /scope must be the scope/,
    ],
    [
      'counters',
      'a scope that stands for nothing',
      set('windows', [{ kind: 'fixed', span: 5, scope: '%ff' }]),
      /the scope of/,
    ],
    [
      'counters',
      'a scope that is not text',
      set('windows', [{ kind: 'fixed', span: 5, scope: 5 }]),
      /scope must be the scope/,
    ],
    [
      'counters',
      'strikeState without limits',
      set('strikeState', strikeState()),
      /must have limits if strikeState is set/,
    ],
    [
      'counters',
      'a ban level below 0',
      set('strikeState', strikeState({ level: -1 })),
      /strikeState\.level must be/,
    ],
    [
      'counters',
      'invalid strikes',
      set('strikeState', strikeState({ strikes: ['x'] })),
      /strikeState\.strikes\[0\] must be/,
    ],
    ['use', 'an invalid time', set('at', null), /use: at must be/],
  ];

function strikeState(changes: object = {}) {
  const refused = { at: 0, until: 0, refusals: 0 };
  const none = { refused, strikes: [], bannedUntil: 0, bannedSince: 0, bannedFor: null };
  return { ...none, level: 0, cleanSince: 0, forgottenAt: 0, ...changes };
}

describe('a broken file is refused, with the number of the line and what is wrong', () => {
  test.each(SPOILT)('a %s with %s', async (type, _what, change, message) => {
    const line = changeFirst(type, change);
    const refused = fileSource(path);
    await expect(refused).rejects.toThrow(message);
    // The entry after a wrong number is the one that breaks the order.
    const number = message.source.includes('must rise') ? line + 1 : line;
    await expect(refused).rejects.toThrow(`line ${number}: `);
  });

  test.each([
    ['the same id twice', movable(1, { hash: hashOf('new') }), /the same key came before/],
    [
      'a secret of another key',
      movable(9, { hash: movable(2).hash }),
      /another key before it has the same secret/,
    ],
    [
      'a secret that another key had',
      movable(9, { hash: hashOf('before2') }),
      /another key before it has the same secret/,
    ],
  ])('with %s', async (_what, key, message) => {
    const lines = linesOf();
    lines.splice(4, 0, JSON.stringify({ type: 'key', ...key }));
    rewrite(lines);
    await expect(fileSource(path)).rejects.toThrow(message);
    await expect(fileSource(path)).rejects.toThrow('line 5: ');
  });

  test('in another order', async () => {
    const lines = linesOf();
    lines.splice(-1, 0, JSON.stringify({ type: 'audit', ...movableEntry(9) }));
    rewrite(lines);
    await expect(fileSource(path)).rejects.toThrow(/line 16: a audit must not come after a use/);
  });

  test.each([
    ['empty', () => '', /is empty/],
    ['cut in a line', (text: string) => text.slice(0, -20), /line 16: it is cut off/],
    [
      'cut behind a line',
      (text: string) => text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1),
      /trailer, is missing/,
    ],
    [
      'one with further lines',
      (text: string) => `${text}{}\n`,
      /line 17: there is more behind the last line/,
    ],
    ['of one endless line', () => 'x'.repeat(17 * 1024 * 1024), /line 1: it is longer than/],
    [
      'in another encoding',
      (text: string) => Buffer.from(text.replace('ä', '\xff'), 'latin1'),
      /line 4: it is not JSON in UTF-8/,
    ],
    [
      'changed in one letter',
      (text: string) => text.replace('"label":null', '"label":"x"'),
      /its SHA-256 is not that of its trailer/,
    ],
    [
      'with a trailer that counts wrongly',
      (text: string) => text.replace('"key":3', '"key":4'),
      /lists 4 records of type key, found 3/,
    ],
    [
      'with a trailer that counts nothing',
      (text: string) => text.replace('"key":3,', ''),
      /line 16: the trailer must have/,
    ],
  ])('%s', async (_what, spoil, message) => {
    writeFileSync(path, spoil(readFileSync(path, 'utf8')));
    await expect(fileSource(path)).rejects.toThrow(message);
  });

  test('that does not exist', async () => {
    await expect(fileSource(join(folder.path, 'none'))).rejects.toThrow(/the file does not exist/);
    await expect(fileSource(folder.path)).rejects.toThrow(/it is not a file/);
    execFileSync('mkfifo', [join(folder.path, 'pipe')]);
    await expect(fileSource(join(folder.path, 'pipe'))).rejects.toThrow(/it is not a file/);
  });
});
