import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { configType } from '../../scripts/config-type.ts';
import { settingsFile } from '../../scripts/settings-file.ts';
import { environmentVariables } from '../../src/config/environment.ts';
import { schemaErrors } from '../../src/config/schema/errors.ts';
import { type Schema, schemaOf } from '../../src/config/schema/schema.ts';
import { isValid, validator } from '../../src/config/schema/validators.ts';
import { settingsOf, valueAt } from '../../src/config/settings.ts';
import { textOf } from '../support/imports.ts';
import { SETTING_READERS } from '../support/setting-readers.ts';

const root = resolve(import.meta.dirname, '../..');
const settings = [...settingsOf('gateway')];
const withValue = (name: string, value: unknown) =>
  name.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);

function isRead(name: string): boolean {
  const words = name.split('.');
  const read = new RegExp(`[.{,]\\s*${words.pop()}\\b`);
  return (SETTING_READERS[words.join('.')] ?? []).some((file) =>
    read.test(textOf(file).replace(COMMENT, '')),
  );
}

const COMMENT = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;

function* schemasIn(value: unknown): Generator<Schema> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Schema;
  for (const member of Object.values(value)) yield* schemasIn(member);
}

describe('the schema that editors show', () => {
  test.each([
    ['config/gateway.yaml', './gateway.schema.json'],
    ['plans.yaml', './config/plans.schema.json'],
  ])('is named in the first line of %s', (file, schema) => {
    const [first] = readFileSync(resolve(root, file), 'utf8').split('\n');
    expect(first).toBe(`# yaml-language-server: $schema=${schema}`);
  });

  test.each(['gateway', 'plans'] as const)('is valid by the meta-schema: %s', (name) => {
    const ajv = new Ajv();
    expect([ajv.validateSchema(schemaOf(name)), ajv.errors]).toEqual([true, null]);
  });

  test('matches the type of the settings in the code (npm run generate writes it)', () => {
    expect(readFileSync(resolve(root, 'src/config/config.generated.ts'), 'utf8')).toBe(
      configType(),
    );
  });

  test.each(settings)('explains %s and has a valid default', (name, schema) => {
    expect((schema as Schema & { description?: string }).description).toMatch(/^\S.+\.$/);
    expect(validator('gateway')(withValue(name, schema.default))).toBe(true);
  });

  test.each(['gateway', 'plans'] as const)(
    'accepts every default by its own schema: %s',
    (name) => {
      for (const schema of schemasIn(schemaOf(name))) {
        if (schema.default !== undefined)
          expect([schema, validator(name, schema)(schema.default)]).toEqual([schema, true]);
      }
    },
  );

  test.each(settings)('describes the valid values of %s', (name, schema) => {
    const value =
      schema.properties === undefined && [schema.type].flat().includes('object')
        ? 'text'
        : { not: 'this' };
    const [flaw] = schemaErrors(withValue(name, value), 'gateway');
    expect(flaw?.message).toMatch(
      /^must be (?!a map,).+, (is a map|is "text"|and is not \(the value is not shown\))$/,
    );
  });

  test.each(settings)(
    'validates %s and its section alone as in a whole document',
    (name, { default: usual }) => {
      const around = name.split('.').slice(0, -1).join('.');
      const values = [null, true, 0, 1e9, '', '5s', '1KiB', ['text'], { not: 'this' }];
      const others =
        around === ''
          ? [{ unknown: 1 }, null, 'text']
          : [{ unknown: 1 }, null, 'text', []].map((value) => withValue(around, value));
      for (const document of [
        ...values.map((value) => withValue(name, value)),
        withValue(name, [usual]),
        ...others,
      ]) {
        expect([document, isValid(document, 'gateway')]).toEqual([
          document,
          validator('gateway')(document),
        ]);
      }
    },
  );

  test('names every variable that overrides a setting, as gateway.yaml does', () => {
    const text = readFileSync(resolve(root, 'config/gateway.yaml'), 'utf8');
    for (const [name, setting] of environmentVariables()) {
      if (setting === null) continue;
      const schema = new Map(settings).get(setting) as Schema & { description: string };
      expect(schema.description).toContain(name);
      expect(text).toContain(name);
    }
  });

  test('has the text of config/gateway.yaml, with every default', () => {
    const text = readFileSync(resolve(root, 'config/gateway.yaml'), 'utf8');
    expect(text).toBe(settingsFile());
    for (const [name, { default: usual }] of settings) {
      if (usual !== undefined) expect([name, valueAt(parse(text), name)]).toEqual([name, usual]);
    }
  });

  test('has no setting that no code reads', () => {
    const names = settings.map(([name]) => name);
    expect(names.filter((name) => !isRead(name))).toEqual([]);
    const planted = Object.keys(SETTING_READERS).map((section) => `${section}.limit`);
    // In these sections other objects have members of the same name.
    const blind = ['admin.tls.limit', 'http.limit', 'http.authFailureLimit.limit', 'explain.limit'];
    expect(planted.filter(isRead)).toEqual(blind);
  });

  test('accepts the shipped plans', () => {
    expect(schemaErrors(parse(readFileSync(resolve(root, 'plans.yaml'), 'utf8')), 'plans')).toEqual(
      [],
    );
  });
});
