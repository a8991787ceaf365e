import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { environmentVariables } from '../../src/config/environment.ts';
import { schemaFlaws } from '../../src/config/schema/flaws.ts';
import { type Schema, schemaOf } from '../../src/config/schema/schema.ts';
import { settingsOf } from '../../src/config/settings.ts';

const root = resolve(import.meta.dirname, '../..');
const settings = [...settingsOf(schemaOf('gateway'))];

describe('the schema that editors show', () => {
  test.each([
    ['config/gateway.yaml', './gateway.schema.json'],
    ['plans.yaml', './config/plans.schema.json'],
  ])('is named in the first line of %s', (file, schema) => {
    const [first] = readFileSync(resolve(root, file), 'utf8').split('\n');
    expect(first).toBe(`# yaml-language-server: $schema=${schema}`);
  });

  test.each(['gateway', 'plans'] as const)('is one by the schema of schemas: %s', (name) => {
    const ajv = new Ajv();
    ajv.validateSchema(schemaOf(name));
    expect(ajv.errors).toBeNull();
  });

  test.each(settings)('explains %s and has a default that it accepts', (name, schema) => {
    expect((schema as Schema & { description?: string }).description).toMatch(/^\S.+\.$/);
    const document = name.split('.').reduceRight<unknown>((value, key) => ({ [key]: value }), schema.default);
    expect(schemaFlaws(document, 'gateway')).toEqual([]);
  });

  test.each(settings)('says what would be right for %s', (name, schema) => {
    // A map of names takes any map.
    const value = schema.properties === undefined && [schema.type].flat().includes('object') ? 'text' : { not: 'this' };
    const wrong = name.split('.').reduceRight<unknown>((value, key) => ({ [key]: value }), value);
    const [flaw] = schemaFlaws(wrong, 'gateway');
    expect(flaw?.message).toMatch(/^must be (?!a map,).+, (is a map|is "text"|and is not \(the value is not shown\))$/);
  });

  test('tells of every variable that beats a setting', () => {
    const text = readFileSync(resolve(root, 'config/gateway.yaml'), 'utf8');
    for (const [name, setting] of Object.entries(environmentVariables)) {
      if (setting === null) continue;
      const schema = new Map(settings).get(setting) as Schema & { description: string };
      expect(schema.description).toContain(name);
      expect(text).toContain(name);
    }
  });

  test('accepts the shipped plans', () => {
    expect(schemaFlaws(parse(readFileSync(resolve(root, 'plans.yaml'), 'utf8')), 'plans')).toEqual([]);
  });
});
