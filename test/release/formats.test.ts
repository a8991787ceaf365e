import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { compare, formats, linesOf, renewed, report } from '../../scripts/formats.ts';

const current = formats();

test('everything that others depend on is as in formats.txt', () => {
  const snapshot = readFileSync(join(import.meta.dirname, 'formats.txt'), 'utf8');
  expect(report(compare(linesOf(snapshot), current))).toBe('');
});

test.each([
  ['setting', /^gateway\.yaml \S+: .*, x-env /],
  ['required setting', /^gateway\.yaml \S+: object, required /],
  ['plan', /^plans\.yaml plans\.<name>\./],
  ['operation', /^admin POST \S+: \w+, role \w+, needs /],
  ['parameter', /^admin GET \S+ query \w+: string/],
  ['field of a request', /^admin request NewKey: object, required /],
  ['field of a response', /^admin response Key\.account: string, always$/],
  ['status', /^admin response KeyStatus = disabled$/],
  ['metric', /^metric storegate_admissions_total: counter, labels plan verdict$/],
  ['event of the log', /^log upstream\.down: error$/],
  ['field of the log that is not always there', /^log upstream\.down error$/],
  ['field that a function of the table adds', /^log request traceId$/],
  ['field of an event', /^webhook ban\.started\.data\.until: string, format "date-time", always$/],
  ['key in Redis', /^redis key sg:\{sg:records\}:keys$/],
  ['script', /^redis script admit-n\.lua: [0-9a-f]{40}$/],
  ['field of a hash', /^redis hash field until$/],
  ['column', /^file state\.db keys\.hash: TEXT, not null$/],
  ['row', /^file counters\.db rows\.kind: TEXT, not null$/],
  ['state file', /^file storegate-state key\.previous\.hash: string$/],
  ['option', /^command storegate keys create --plan <value>$/],
  ['error code', /^error key_banned: 403$/],
])('the formats have this %s', (_what, form) => {
  expect(current.filter((text) => form.test(text))).not.toEqual([]);
});

describe('a format', () => {
  const before = ['metric a: counter', 'metric b: gauge', 'redis key c'];

  test.each([
    [
      'is gone',
      ['metric a: counter', 'redis key c'],
      { breaking: ['- metric b: gauge'], added: [] },
    ],
    [
      'has changed',
      ['metric a: counter, labels x', 'metric b: gauge', 'redis key c'],
      { breaking: ['- metric a: counter', '+ metric a: counter, labels x'], added: [] },
    ],
    [
      'has another name',
      ['metric a: counter', 'metric b: gauge', 'redis key d'],
      { breaking: ['- redis key c'], added: ['+ redis key d'] },
    ],
    ['is new', [...before, 'metric d: gauge'], { breaking: [], added: ['+ metric d: gauge'] }],
    ['is in another place', before.toReversed(), { breaking: [], added: [] }],
  ])('that %s is found', (_what, after, difference) => {
    expect(compare(before, after)).toEqual(difference);
  });

  test('that has changed is reported as breaking, with the difference', () => {
    const text = report(compare(before, ['metric a: gauge', ...before.slice(1)]));
    expect(text).toMatch(/^breaking: .*--breaking`/);
    expect(text).toContain('\n- metric a: counter\n+ metric a: gauge');
  });

  test('that is new asks for a new snapshot only', () => {
    const text = report(compare(before, [...before, 'metric d: gauge']));
    expect(text).not.toContain('breaking');
    expect(text).toBe('new: run `npm run generate`.\n+ metric d: gauge');
  });

  test('that has changed or gone stays in the snapshot until this is accepted', () => {
    const after = ['metric a: gauge', 'metric d: gauge', 'redis key c'];
    expect(renewed(before, after)).toEqual([
      'metric a: counter',
      'metric b: gauge',
      'metric d: gauge',
      'redis key c',
    ]);
  });
});
