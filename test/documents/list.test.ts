import { describe, expect, test } from '@jest/globals';
import { readList } from './list.ts';
import { isReason, REASONS, reasonOf } from './reasons.ts';

const { packages, tools } = readList();
const documents = packages.flatMap(({ name, documents }) =>
  documents.map((document) => ({ ...document, name: `${name} ${document.file}` })),
);

describe('the list of public documents', () => {
  test('has at least two hundred, none of them twice', () => {
    expect(documents.length).toBeGreaterThanOrEqual(200);
    expect(new Set(documents.map(({ name }) => name)).size).toBe(documents.length);
    expect(new Set(documents.map(({ sha256 }) => sha256)).size).toBe(documents.length);
    expect(new Set(packages.map(({ name }) => name)).size).toBe(packages.length);
  });

  test('pins each package, tool and document', () => {
    for (const version of [...Object.values(tools), ...packages.map(({ version }) => version)])
      expect(version).toMatch(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/);
    for (const { integrity } of packages) expect(integrity).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
    for (const { sha256 } of documents) expect(sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  test('says of each document how many operations it has, or why it is refused', () => {
    for (const { name, operations, refused } of documents) {
      const reasons = Object.entries(refused ?? {});
      expect([name, operations === undefined]).toEqual([name, reasons.length > 0]);
      expect([name, reasons.filter(([reason]) => !isReason(reason))]).toEqual([name, []]);
      expect([name, reasons.filter(([, mistake]) => mistake.length < 10)]).toEqual([name, []]);
    }
  });

  test('has documents of OpenAPI 3.0 and 3.1, and at most a handful of Swagger 2.0', () => {
    const of = (version: string) =>
      documents.filter(({ openapi }) => openapi.startsWith(version)).length;
    expect(Math.min(of('3.0.'), of('3.1.'))).toBeGreaterThan(30);
    expect(of('2.')).toBeLessThan(6);
  });
});

describe('a reason', () => {
  test('has a second validator if it is a mistake', () => {
    for (const [name, reason] of Object.entries(REASONS))
      expect([name, 'confirmedBy' in reason]).toEqual([name, reason.kind === 'mistake']);
  });

  test('is that of a document', () => {
    const used = new Set(documents.flatMap(({ refused }) => Object.keys(refused ?? {})));
    expect(new Set(Object.keys(REASONS))).toEqual(used);
  });

  test('is found by the message, and is null for an unknown one', () => {
    expect(reasonOf('the path /a?b must have no query and no fragment')).toBe('path-fragment');
    expect(reasonOf('everything is wrong')).toBeNull();
  });
});
