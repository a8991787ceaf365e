import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { done, loadText } from '../../packages/openapi/test/documents.ts';
import { EXCEPTIONS } from '../../packages/openapi/test/suite/exceptions.ts';

/**
 * The JSON Schema Test Suite, the required cases of draft 2020-12, through a whole OpenAPI 3.1
 * document: each schema is the schema of a body. Remote schemas of the suite are components here,
 * found by their `$id`.
 */
interface Group {
  readonly description: string;
  readonly schema: unknown;
  readonly tests: readonly {
    readonly description: string;
    readonly data: unknown;
    readonly valid: boolean;
  }[];
}

type Json = Record<string, unknown>;

const { files, remotes }: { files: Record<string, Group[]>; remotes: Record<string, Json> } =
  JSON.parse(
    readFileSync(
      join(import.meta.dirname, '../../packages/openapi/test/suite/draft2020-12.json'),
      'utf8',
    ),
  );

const served = Object.fromEntries(
  Object.entries(remotes)
    .filter(([name]) => !/metaschema|format-assertion|prefixItems/.test(name))
    .map(([address, schema], i) => [`remote${i}`, withId(schema, address)]),
);

function withId(schema: Json, address: string): Json {
  if (schema.$id === undefined) return { ...schema, $id: address };
  return schema.$id === address ? schema : { $id: address, $ref: schema.$id };
}

const own = Object.fromEntries(
  Object.entries(remotes)
    .filter(([, { $id }]) => $id !== undefined)
    .map(([address, schema], i) => [`own${i}`, schema.$id === address ? {} : schema]),
);

/** In the suite each schema is a document of its own, the target of `#`. */
const asDocument = ({ schema }: Group, i: number): unknown =>
  typeof schema === 'object' ? { $id: `http://localhost:1234/documents/${i}`, ...schema } : schema;

type Judge = (data: unknown) => boolean;

function judgesOf(groups: readonly Group[], components: Json): (Judge | null)[] {
  const bodies = groups
    .map(asDocument)
    .map((schema) => ({ content: { 'application/json': { schema } } }));
  const paths = Object.fromEntries(
    bodies.map((requestBody, i) => [`/${i}`, { post: { requestBody, responses: done } }]),
  );
  const document = { openapi: '3.1.0', info: { title: 'Suite', version: '1' }, paths, components };
  const contract = loadText(JSON.stringify(document), { integers: 'any', onUnsupported: 'omit' });
  return groups.map((_, i) => {
    const { operation } = contract.match('POST', `/${i}`);
    const media = operation?.body?.media('application/json');
    return media ? (data) => media.check(Buffer.from(JSON.stringify(data))).length === 0 : null;
  });
}

/** Groups with named schemas get a contract of their own, because several use the same names. */
function judgedGroups(): [name: string, group: Group, judge: Judge | null][] {
  const all = Object.entries(files).flatMap(([file, groups]) =>
    groups.map((group) => ({ file, group })),
  );
  const text = ({ group }: { group: Group }) => JSON.stringify(group.schema);
  const [alone, together] = [true, false].map((is) =>
    all.filter((one) => text(one).includes('"$id"') === is),
  );
  const remote = all.filter((one) => text(one).includes('localhost:1234') && !alone!.includes(one));
  const refused = together!.filter((one) => text(one).includes('"__proto__":'));
  const plain = together!.filter((one) => !remote.includes(one) && !refused.includes(one));
  const judges = [
    ...judgesOf(
      plain.map(({ group }) => group),
      {},
    ),
    ...[...alone!, ...remote].flatMap((one) =>
      judgesOf(
        [one.group],
        text(one).includes('localhost:1234') ? { schemas: { ...served, ...own } } : {},
      ),
    ),
  ];
  const listed = [...plain, ...alone!, ...remote, ...refused];
  return listed.map(({ file, group }, i) => [file, group, judges[i] ?? null]);
}

const cases = Object.values(files).flatMap((groups) => groups.flatMap(({ tests }) => tests));

test('98 cases of 100 have the result of the suite, and the exceptions are listed', () => {
  const different = judgedGroups().flatMap(([file, { description, tests }, judge]) =>
    tests
      .filter(({ data, valid }) => judge === null || judge(data) !== valid)
      .map((one) => `${file}: ${description}: ${one.description}`),
  );
  expect(different.sort()).toEqual(EXCEPTIONS.flatMap(({ cases: listed }) => listed).sort());
  expect(cases.length).toBe(1_299);
  expect(different.length / cases.length).toBeLessThan(0.02);
});
