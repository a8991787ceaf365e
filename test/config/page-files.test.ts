import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { describeConfig } from '../../src/config/describe.ts';
import { loadConfig } from '../../src/config/load.ts';
import { folderWith } from './folder.ts';

const SVG = '<?xml version="1.0"?>\n<!-- a -->\n<svg xmlns="http://www.w3.org/2000/svg"/>';
const PNG = Buffer.from('89504e470d0a1a0a00', 'hex');

function load(settings: string, files: Record<string, string> = {}) {
  const cwd = folderWith({ 'gateway.yaml': settings, ...files });
  return { cwd, read: () => loadConfig({ env: { STOREGATE_CONFIG: 'gateway.yaml' }, cwd }) };
}

describe('files of the reference', () => {
  test('are read with the settings, and watched', () => {
    const { cwd, read } = load('reference: { title: Shop, logo: a.svg, introduction: b.md }', {
      'a.svg': SVG,
      'b.md': '**Hello**',
    });
    const { reference, files } = read();
    expect(reference).toEqual({
      enabled: true,
      title: 'Shop',
      logo: { type: 'image/svg+xml', content: Buffer.from(SVG).toString('base64') },
      introduction: '**Hello**',
    });
    expect(files.others).toEqual([join(cwd, 'a.svg'), join(cwd, 'b.md')]);
  });

  test('are none by default', () => {
    expect(load('{}').read().reference).toMatchObject({
      title: null,
      logo: null,
      introduction: null,
    });
  });

  test('may be a PNG image, and a changed file is a changed setting', () => {
    const { cwd, read } = load('reference: { logo: a.png }');
    const logoSetting = () => describeConfig(read()).find(({ name }) => name === 'reference.logo');
    writeFileSync(join(cwd, 'a.png'), PNG);
    expect(read().reference.logo?.type).toBe('image/png');
    const before = logoSetting();
    writeFileSync(join(cwd, 'a.png'), Buffer.concat([PNG, PNG]));
    expect(logoSetting()).not.toEqual(before);
  });

  test.each([
    ['logo: no.svg', 'no.svg: does not exist; correct reference.logo'],
    ['logo: gateway.yaml', 'gateway.yaml: must be an SVG or PNG image; correct reference.logo'],
    [
      'logo: large.svg',
      'large.svg: must be at most 256KiB, has 262145 bytes; correct reference.logo',
    ],
    ['logo: .', 'must be a file, is a folder; correct reference.logo'],
    ['introduction: latin.md', 'latin.md: must be UTF-8 text; correct reference.introduction'],
  ])('%s is refused', (setting, message) => {
    const { cwd, read } = load(`reference: { ${setting} }`);
    writeFileSync(join(cwd, 'large.svg'), '<svg>'.padEnd(256 * 1024 + 1));
    writeFileSync(join(cwd, 'latin.md'), Buffer.from([0xe9]));
    expect(read).toThrow(message);
  });
});
