import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Packing } from '../../../src/observe/traffic/packing.ts';
import { fileSource } from '../../../src/records/transfer/file-reader.ts';
import { fileTarget, MAX_LINE } from '../../../src/records/transfer/file-writer.ts';
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
  const counts = { key: 0, token: 0, audit: 0, ban: 0, counters: 0, use: 0, usage: 0 };
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
      version: 3,
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
      'usage',
      'usage',
      'trailer',
    ]);
    expect(JSON.parse(lines.at(-1)!)).toEqual({
      type: 'trailer',
      counts: { key: 3, token: 1, audit: 3, ban: 2, counters: 3, use: 2, usage: 2 },
      sha256: createHash('sha256')
        .update(`${lines.slice(0, -1).join('\n')}\n`)
        .digest('hex'),
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder.path)).toEqual(['state.ndjson']);
    const whole = await readWhole(await fileSource(path));
    expect(whole).toEqual(await readWhole(sourceOf(someState(NOW))));
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
    await expect(late.finish(movableEntry(1), { isCopy: true })).rejects.toThrow(
      /is there already/,
    );
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

const EMPTY: Section = [0, ''];

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
    [
      'header',
      'a newer version',
      set('version', 4),
      /has format 4, and this storegate reads 1, 3: use the version/,
    ],
    ['header', 'no time', drop('at'), /must have the time/],
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
    [
      'key',
      'a window of an operation',
      set('windows', [{ name: 'minute', kind: 'fixed', limit: 1, span: 60_000, scope: 'login' }]),
      /scope must be that of an API/,
    ],
    ['key', 'an API that is none', set('apis', ['a,b']), /apis\[0\] must be the name of an API/],
    ['key', 'APIs that are not a list', set('apis', 'a'), /apis must be a list/],
    ['token', 'an unknown role', set('role', 'god'), /role must be one of read, operate, admin/],
    ['audit', 'no number', set('number', 0), /audit: number must be/],
    ['ban', 'a number that falls', set('number', 99), /numbers of ban entries must rise/],
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
    ['usage', 'no name', drop('name'), /usage: name is missing/],
    ['usage', 'a name that is a path', set('name', '../../x'), /name must be that of a part/],
    ['usage', 'a name after all time', set('name', 'm999999999999-00000000'), /name must be that/],
    ['usage', 'a name of another time', set('name', 'h1-00000000'), /another time than the name/],
    ['usage', 'bytes that are no text', set('bytes', 5), /usage: bytes must be text/],
    ['usage', 'bytes that are not Base64', set('bytes', 'a*'), /bytes must be Base64/],
    ['usage', 'a changed byte', flip(40), /bytes are damaged: its checksum differs/],
    ['usage', 'bytes that are cut off', cut, /bytes are damaged: a part is cut off/],
    ['usage', 'no section', sections([]), /bytes are damaged: a section is missing/],
    ['usage', 'a head that is no JSON', packed(null), /bytes are damaged: .*JSON/],
    ['usage', 'a head without sources', packed({ sources: undefined }), /a head: sources is mi/],
    ['usage', 'a process that is none', packed({ sources: { __: 1 } }), /without a unique name/],
    ['usage', 'an own prototype', packed({ ['__proto__']: 1 }), /field that is unknown here/],
    ['usage', 'a negative number', packed({ sources: { 'a#': {} } }), /source whose since is m/],
    [
      'usage',
      'a section that inflates without end',
      sections([[1, deflateRawSync(Buffer.alloc(1 << 29))], EMPTY]),
      /bytes are damaged: Cannot create a Buffer larger/,
    ],
    ['usage', 'a section that is not deflated', sections([[1, 'x'], EMPTY]), /bytes are damaged: /],
    [
      'usage',
      'rows without names',
      sections([EMPTY, EMPTY, [0, rows({ size: 1 })]]),
      /row without names/,
    ],
    [
      'usage',
      'keys that are numbers',
      sections([EMPTY, EMPTY, [0, rows({ keys: '[1]' })]]),
      /clients\[0\]\.key must be text/,
    ],
    [
      'usage',
      'outcomes that are text',
      sections([EMPTY, EMPTY, [0, rows({ outcomes: '""' })]]),
      /outcomes must be a list/,
    ],
    [
      'usage',
      'a row that is cut off',
      sections([EMPTY, EMPTY, [0, rows({ size: 2 })]]),
      /bytes are damaged: a number is cut off/,
    ],
    ['usage', 'uses that are a list', sections([EMPTY, [0, '[]']]), /bytes are damaged: /],
    [
      'usage',
      'uses with a window of a prototype',
      sections([EMPTY, [0, usesOf('__proto__')]]),
      /bytes are damaged: /,
    ],
  ];

function flip(at: number): Change {
  return (record) => {
    const bytes = bytesIn(record);
    bytes[at]! ^= 1;
    return set('bytes', bytes.toString('base64'))(record);
  };
}

function cut(record: Record<string, unknown>) {
  return set('bytes', bytesIn(record).subarray(0, -1).toString('base64'))(record);
}

function bytesIn({ bytes }: Record<string, unknown>): Buffer {
  return Buffer.from(String(bytes), 'base64');
}

type Section = readonly [isCompressed: number, content: string | Uint8Array];

/** With a valid checksum. `null`: no JSON. */
function packed(head: object | null, sections: readonly Section[] = [EMPTY, EMPTY]): Change {
  return (record) => {
    const start = Number.parseInt(String(record.name).slice(1), 10) * 60_000;
    const whole = { start, span: 3_600_000, policies: 0, sources: {}, ...head };
    const body = new Packing();
    body.part(Buffer.from(head === null ? '{' : JSON.stringify(whole)));
    for (const [isCompressed, content] of sections) {
      body.number(isCompressed);
      body.part(Buffer.from(content));
    }
    const all = new Packing();
    all.number(2);
    all.number(crc32(body.bytes));
    all.part(body.bytes);
    return set('bytes', all.bytes.toString('base64'))(record);
  };
}

function sections(all: readonly Section[]): Change {
  return packed({}, all);
}

/** One row of the first client, operation and outcome, which lists without them lack. */
function rows({ size = 1, keys = '[]', outcomes = '[]' }): Buffer {
  const packing = new Packing();
  packing.number(size);
  packing.number(0);
  for (const names of [keys, '["acme"]', '["free"]', '[]', outcomes])
    packing.part(Buffer.from(names));
  for (let column = 0; column < 15; column++) packing.part(Buffer.of(0));
  return packing.bytes;
}

function usesOf(kind: string): string {
  const uses = { floor: 0, local: false, rows: [] };
  return JSON.stringify({ costliest: 0, counted: [], tables: [['free', kind, 1, 'key', uses]] });
}

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
    await expect(fileSource(path)).rejects.toThrow(/line 18: a audit must not come after a usage/);
  });

  test.each([
    ['empty', () => '', /is empty/],
    ['cut in a line', (text: string) => text.slice(0, -20), /line 18: it is cut off/],
    [
      'cut behind a line',
      (text: string) => text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1),
      /trailer, is missing/,
    ],
    [
      'one with further lines',
      (text: string) => `${text}{}\n`,
      /line 19: there is more behind the last line/,
    ],
    ['of one endless line', () => 'x'.repeat(MAX_LINE + 300_000), /line 1: it is longer than/],
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
      /line 18: the trailer must have/,
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
