import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from '@jest/globals';
import { loadContract } from '../src/index.ts';
import { head, loadText, problemsOf, short } from './documents.ts';

const file = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));

describe('a document in several files', () => {
  const contract = loadContract(file('shop/openapi.yaml'));
  const addPet = contract.match('POST', '/pets').operation!;
  const check = (text: string) =>
    short(addPet.body!.media('application/json')!.check(new TextEncoder().encode(text)));

  test('is one contract', () => {
    expect(contract.operations.map(({ id }) => id)).toEqual(['addPet', 'getOwner']);
    expect(
      check('{"kind":"cat","tag":"abc","owner":{"name":"Jo","pets":[{"kind":"dog"}]}}'),
    ).toEqual([]);
    expect(check('{"kind":"cat","tag":"abcd","owner":{"pets":[{}]},"problem":{}}')).toEqual([
      '/tag must have at most 3 characters',
      '/owner/pets/0/kind is required',
      '/problem/code is required',
    ]);
  });

  test('has the parameters and path items of other files', () => {
    expect(short(addPet.checkParameters([], '', ['X-Trace', '9223372036854775807']))).toEqual([]);
    expect(short(addPet.checkParameters([], '', ['X-Trace', '9223372036854775808']))).toEqual([
      '/X-Trace must be at most 9223372036854775807',
    ]);
    const { operation, parameters } = contract.match('GET', '/owners/7') as {
      operation: typeof addPet;
      parameters: string[];
    };
    expect(short(operation.checkParameters(parameters, '', []))).toEqual([]);
    expect(short(operation.checkParameters(['x'], '', []))).toEqual([
      '/ownerId must be an integer',
    ]);
  });

  test('has discriminators that name files', () => {
    const faultsOf = (size: string) =>
      check(`{"kind":"a","cage":{"size":"${size}","bars":"x","doors":"y"}}`);
    const small = ['/cage/doors is not defined in the contract', '/cage/bars must be an integer'];
    const large = ['/cage/bars is not defined in the contract', '/cage/doors must be an integer'];
    expect([faultsOf('s'), faultsOf('Small')]).toEqual([small, small]);
    expect([faultsOf('l'), faultsOf('Large')]).toEqual([large, large]);
    expect(check('{"kind":"a","cage":{"size":"m","doors":1}}')).toEqual([]);
  });

  test('is served in one piece, which means the same', () => {
    const refs = [...contract.json.matchAll(/"\$ref": "([^"]*)"/g)].map(([, ref]) => ref);
    expect(refs.filter((ref) => !ref!.startsWith('#/components/'))).toEqual([]);
    const again = loadText(contract.json);
    expect(again.json).toBe(contract.json);
    const media = again.match('POST', '/pets').operation!.body!.media('application/json')!;
    const text =
      '{"kind":"cat","tag":"abcd","owner":{"pets":[{}]},"problem":{},"cage":{"size":"s","bars":"x"}}';
    expect(short(media.check(new TextEncoder().encode(text)))).toEqual(check(text));
  });

  test('keeps schemas of the same name apart', () => {
    const { schemas } = contract.document.components as { schemas: Record<string, unknown> };
    expect(schemas.Tag).toEqual({ type: 'integer' });
    expect(schemas.Tag_2).toEqual({ type: 'string', maxLength: 3 });
  });

  test('notes what is not enforced where it was written', () => {
    expect(contract.notes).toEqual([
      {
        file: file('shop/shared/pet.yaml'),
        place: '10:5 /properties/cage/discriminator',
        message:
          'oneOf decides without the discriminator: an enum or const of size in each schema would let it choose',
      },
      {
        file: file('shop/shared/pet.yaml'),
        place: '11:1 /definitions',
        message: 'definitions is not a field that OpenAPI 3.0 has here: it is ignored',
      },
    ]);
  });
});

test('mistakes in other files are reported with their places', () => {
  expect(() => loadContract(file('mistaken/openapi.yaml'))).toThrow(
    [
      `${file('mistaken/openapi.yaml')}:6:7 /paths/~1/get/x-sunset: must be a date (2027-01-31) or a date and time (2027-01-31T12:00:00Z)`,
      `${file('mistaken/other.yaml')}:1:44 /Parameter/schema/minimum: must be a number`,
      `${file('mistaken/other.yaml')}:1:58 /Parameter/schema/pattern: the pattern is not valid with the u flag: Invalid regular expression: /[/u: Unterminated character class`,
      `${file('mistaken/other.yaml')}:3:3 /Response/$ref: #/Nothing does not exist`,
    ].join('\n'),
  );
});

describe('a reference in place of an operation', () => {
  const folder = mkdtempSync(join(tmpdir(), 'contract-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const document = (paths: object) => JSON.stringify({ ...head, paths });
  const read = (paths: object) =>
    loadContract(join(folder, 'openapi.json'), { text: document(paths) });

  test.each(['3.0.3', '3.1.0'])('is followed in %s, in several steps', (openapi) => {
    const schema = '{ $ref: "#/Name" }';
    writeFileSync(join(folder, 'steps.yaml'), 'get: { $ref: "pet.yaml" }');
    writeFileSync(
      join(folder, 'pet.yaml'),
      `operationId: getPet\nparameters: [{ name: id, in: path, required: true, schema: ${schema} }]\n` +
        'responses: { 200: { description: Done. } }\nName: { type: string, maxLength: 3 }\n',
    );
    const paths = {
      '/pets/{id}': {
        get: { $ref: 'steps.yaml#/get', description: 'Of this path.', tags: ['pets'] },
      },
    };
    const text = JSON.stringify({ ...head, openapi, paths });
    const contract = loadContract(join(folder, 'openapi.json'), { text });
    const { operation } = contract.match('GET', '/pets/abc');
    expect(operation?.id).toBe('getPet');
    expect(short(operation!.checkParameters(['abcd'], '', []))).toEqual([
      '/id must have at most 3 characters',
    ]);
    expect(contract.json).not.toContain('pet.yaml');
    expect(contract.notes.map(({ message }) => message)).toContain('tags beside $ref is ignored');
  });

  test('that leads nowhere or to itself is a mistake', () => {
    expect(problemsOf(() => read({ '/a': { get: { $ref: 'nothing.yaml' } } }))[0]).toMatch(
      /nothing.yaml cannot be read/,
    );
    expect(problemsOf(() => read({ '/a': { get: { $ref: '#/paths/~1a/get' } } }))[0]).toMatch(
      /an operation must not contain itself/,
    );
  });
});
