import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type Schema, schemaOf } from '../../src/config/schema/schema.ts';
import { formatWindows, parseWindows } from '../../src/config/windows.ts';
import { DEFAULT_KIND, KIND_NAMES } from '../../src/limits/kinds.ts';
import { HOUR } from '../support/limits.ts';

const textOf = (file: string) => readFileSync(resolve(import.meta.dirname, '../..', file), 'utf8');

describe('the kinds of windows', () => {
  test('are those that plans.yaml may name, each with a description', () => {
    const kind = schemaOf('plans').definitions!.window!.properties!.kind as Schema & {
      description: string;
    };
    expect(kind.enum).toEqual(KIND_NAMES);
    expect(kind.default).toBe(DEFAULT_KIND);
    for (const name of KIND_NAMES) expect(kind.description).toContain(`${name}: `);
  });

  test('are those that the comments of the shipped plans.yaml explain', () => {
    const explained = [
      ...textOf('plans.yaml').matchAll(/^# {3}(?:kind| {4}) +(\w+)( \(default\))?: /gm),
    ];
    expect(explained.map(([, name]) => name)).toEqual(KIND_NAMES);
    expect(explained.filter(([, , isDefault]) => isDefault).map(([, name]) => name)).toEqual([
      DEFAULT_KIND,
    ]);
  });

  test('are those of the contract of the admin API', () => {
    const kinds = [
      ...textOf('packages/admin-api/src/contract/admin.openapi.yaml').matchAll(
        /^ +kind: \{ type: string, enum: \[(.*?)\]/gm,
      ),
    ];
    expect(kinds.length).toBeGreaterThan(2);
    for (const [, names] of kinds) expect(names!.split(', ')).toEqual(KIND_NAMES);
  });

  test.each(KIND_NAMES)(
    '%s is read from the short form, and written if it is not the default',
    (kind) => {
      const windows = parseWindows(`60/hour:${kind}`);
      const { zone, ...rest } = windows[0]!;
      expect(rest).toEqual({ name: 'hour', kind, limit: 60, span: HOUR });
      const written = zone === undefined ? kind : `${kind}:${zone}`;
      expect(formatWindows(windows)).toBe(kind === DEFAULT_KIND ? '60/hour' : `60/hour:${written}`);
    },
  );
});
