import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readScript, SCRIPTS } from '../../src/state/redis/scripts.ts';

const files = readdirSync(SCRIPTS).filter((name) => name.endsWith('.lua'));

test.each(files)('%s says in its name and header which keys and arguments it takes', (file) => {
  const text = readFileSync(join(SCRIPTS, file), 'utf8');
  const count = /^[a-z]+-(\d+|n)\.lua$/.exec(file)?.[1];
  expect(count).toBeDefined();
  const header = text.slice(0, text.search(/^(?!--)/m));
  for (const word of ['KEYS', 'ARGV', 'Return'])
    expect(header).toMatch(new RegExp(`^-- ${word}`, 'm'));

  const { text: whole } = readScript(file);
  const code = whole.replace(/^\s*--.*$/gm, '');
  const used = new Set([...code.matchAll(/\bKEYS\[(\w+)\]/g)].map((match) => match[1]));
  const promised =
    count === 'n' ? ['i'] : Array.from({ length: Number(count) }, (_, i) => `${i + 1}`);
  const numbered = [...used].filter((key) => /^\d+$/.test(key!));
  expect(promised).toEqual(expect.arrayContaining(numbered));
  for (const key of promised) expect(header).toContain(`[${key}]`);
  expect(whole).not.toContain('--- include');
});

test('no script names a key of its own', () => {
  for (const file of files) expect(readScript(file).text).not.toContain('sg:');
});
