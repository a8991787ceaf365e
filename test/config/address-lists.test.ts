import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { describeConfig } from '../../src/config/describe.ts';
import { loadConfig } from '../../src/config/load.ts';
import { differences } from '../../src/config/restart.ts';
import { folderWith } from './folder.ts';
import { mistakesOf } from './mistakes.ts';

const DENY = 'addresses: { deny: [192.0.2.1, { file: lists/blocked.txt }] }\n';
const APIS = `apis:
  - { name: files, path: /files, contract: none, stripPath: false, target: "http://files.example", addresses: { allow: [{ file: lists/blocked.txt }, "::1"] } }
  - { name: live, path: /live, contract: none, stripPath: false, target: "http://live.example" }
`;

function folderOf(settings: string, list: string) {
  const cwd = folderWith({ 'gateway.yaml': settings, 'lists/blocked.txt': list });
  return { cwd, load: () => loadConfig({ env: { STOREGATE_CONFIG: 'gateway.yaml' }, cwd }) };
}

describe('a file of addresses', () => {
  test('has an address or a block in each line, with comments and any line ends', () => {
    const { cwd, load } = folderOf(
      DENY,
      '# Ours\n203.0.113.7\r\n\n  2001:db8::/32 ; since May\n10.0.0.0/8# private',
    );
    const { addresses, files } = load();
    expect(addresses).toEqual({
      allow: [],
      deny: [
        { file: null, entries: ['192.0.2.1'] },
        { file: 'lists/blocked.txt', entries: ['203.0.113.7', '2001:db8::/32', '10.0.0.0/8'] },
      ],
    });
    expect(files.others).toEqual([join(cwd, 'lists/blocked.txt')]);
  });

  test('may belong to an API', () => {
    const [files, live] = folderOf(APIS, '10.0.0.0/8').load().apis.slice(1);
    expect(files!.addresses).toEqual({
      allow: [
        { file: null, entries: ['::1'] },
        { file: 'lists/blocked.txt', entries: ['10.0.0.0/8'] },
      ],
      deny: [],
    });
    expect(live!.addresses).toEqual({ allow: [], deny: [] });
  });

  test('may be empty if it denies', () => {
    expect(folderOf(DENY, '# empty\n').load().addresses.deny[1]!.entries).toEqual([]);
  });

  test.each([
    ['addresses.deny', DENY],
    ['apis', APIS],
  ])(
    'with other content is another setting %s, which is shown with its entries',
    (name, settings) => {
      const { cwd, load } = folderOf(settings, '203.0.113.7');
      const before = load();
      expect(differences(before, load())).toEqual([]);
      writeFileSync(join(cwd, 'lists/blocked.txt'), '203.0.113.7\n203.0.113.8\n');
      const after = load();
      expect(differences(before, after)).toEqual([name]);
      const shown = describeConfig(after).find((one) => one.name === name)!.value;
      expect(shown).toMatch(/\{"file":"lists\/blocked\.txt","entries":2,"digest":"[0-9a-f]{12}"\}/);
    },
  );

  test('is read once while its text stays the same, and again after a mistake in it was fixed', () => {
    const { cwd, load } = folderOf(DENY, '203.0.113.7');
    const read = () => load().addresses.deny[1]!.entries;
    const first = read();
    expect(read()).toBe(first);
    const file = join(cwd, 'lists/blocked.txt');
    writeFileSync(file, 'nowhere');
    expect(mistakesOf(load)).toHaveLength(1);
    expect(mistakesOf(load)).toHaveLength(1);
    writeFileSync(file, '203.0.113.7');
    expect(read()).toEqual(first);
  });

  test('is reported with its first twenty mistakes, and the number of further ones', () => {
    const { load } = folderOf(DENY, 'nowhere\n'.repeat(1_000));
    const mistakes = mistakesOf(load);
    expect(mistakes).toHaveLength(21);
    expect(mistakes[0]).toMatch(
      /^lists\/blocked\.txt:1:1: must be an address, or a block .* is "nowhere"$/,
    );
    expect(mistakes[20]).toBe('lists/blocked.txt: has 980 more such lines');
  });

  test.each([
    ['not UTF-8', Uint8Array.of(0x31, 0xff), 'must be UTF-8 text'],
    [
      'too large',
      Buffer.alloc(8 * 1024 * 1024 + 1, '#'),
      'must be at most 8MiB, has 8388609 bytes',
    ],
  ])('that is %s is a mistake', (_what, content, message) => {
    const cwd = folderWith({ 'gateway.yaml': DENY, 'lists/blocked.txt': content });
    expect(
      mistakesOf(() => loadConfig({ env: { STOREGATE_CONFIG: 'gateway.yaml' }, cwd })),
    ).toEqual([`lists/blocked.txt: ${message}; correct addresses.deny`]);
  });
});
