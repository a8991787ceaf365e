import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { describeConfig } from '../../src/config/describe.ts';
import { loadConfig, loadSections } from '../../src/config/load.ts';
import { differences } from '../../src/config/restart.ts';
import { isFieldValue } from '../../src/config/schema/formats.ts';
import { folderWith } from './folder.ts';
import { mistakesOf } from './mistakes.ts';

const TOKEN = 'Bearer s3cr3t-of-the-backend';
const CHARACTERS = 'does not have 1 to 4096 visible ASCII characters in one line';
const RULES = `headers:
  request: { set: { X-Internal: { file: run/token }, X-Edge: eu } }
  response: { set: { X-Same: { file: ./run/token } }, remove: [Server] }
`;

function load(content: string | Uint8Array, settings = RULES) {
  const cwd = folderWith({ 'gateway.yaml': settings, 'run/token': content });
  const options = { env: { STOREGATE_CONFIG: 'gateway.yaml' }, cwd };
  return { cwd, options, read: () => loadConfig(options) };
}

describe('the value of a header rule in a file', () => {
  test.each(['', '\n', '\r\n'])('is read without its line end, and watched: %j', (end) => {
    const { cwd, read } = load(TOKEN + end);
    const { headers, files } = read();
    expect(headers).toEqual({
      request: { set: { 'X-Internal': TOKEN, 'X-Edge': 'eu' }, remove: [] },
      response: { set: { 'X-Same': TOKEN }, remove: ['Server'] },
    });
    expect(files.others).toEqual([join(cwd, 'run/token')]);
  });

  test('is never shown, and a changed file is a changed setting', () => {
    const { cwd, read } = load(TOKEN);
    const before = read();
    expect(differences(before, read())).toEqual([]);
    const shown = describeConfig(before);
    expect(JSON.stringify(shown)).not.toContain('s3cr3t');
    expect(shown.find(({ name }) => name === 'headers.request.set')?.value).toBe(
      '{"X-Internal":{"file":"run/token"},"X-Edge":"eu"}',
    );
    writeFileSync(join(cwd, 'run/token'), 'Bearer s3cr3t-that-is-new');
    const after = read();
    expect(differences(before, after)).toEqual(['headers.request.set', 'headers.response.set']);
    expect(describeConfig(after)).toEqual(shown);
  });

  test.each([
    ['two lines', 's3cr3t\nX-Other: a', CHARACTERS],
    ['NUL', 's3cr3t\0', CHARACTERS],
    ['nothing', '', CHARACTERS],
    ['too much', 's3cr3t'.repeat(2_000), 'must be at most 8KiB, has 12000 bytes'],
    ['no text', Buffer.from('s3cr3t\xff', 'latin1'), 'must be UTF-8 text'],
  ])('that is not valid is a mistake without the value: %s', (_what, content, reason) => {
    const { options, read } = load(content);
    expect(mistakesOf(read)).toEqual([
      `gateway.yaml:2:33 headers.request.set.X-Internal: the file that it names ${reason} (neither path nor value is shown)`,
    ]);
    const sections = loadSections(options);
    expect(sections.upstream.backends).toEqual([]);
    expect(() => sections.headers).toThrow('headers.request.set.X-Internal');
  });
});

test('a field value that is accepted is one line that ends where it begins', () => {
  const text = fc.string({ unit: 'binary', maxLength: 20 });
  fc.assert(
    fc.property(text, (value) => {
      const isPlain = /^[\x20-\x7e\t]+$/.test(value) && value.trim() === value;
      expect(isFieldValue(value)).toBe(isPlain);
    }),
  );
  expect(isFieldValue('x'.repeat(4_096))).toBe(true);
  expect(isFieldValue('x'.repeat(4_097))).toBe(false);
});
