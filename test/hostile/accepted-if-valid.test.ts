import { expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { done, load } from '../../packages/openapi/test/documents.ts';
import { asJsonSchema, schema, valueFor } from './arbitrary-contract.ts';

const SEED = 20_260_102;

/** An independent judge: a draft 7 validator that reads own members only. */
function judgeOf(schema: Record<string, unknown>): (value: unknown) => boolean {
  const ajv = new Ajv({
    strict: false,
    ownProperties: true,
    validateSchema: false,
    allowUnionTypes: true,
  });
  const validate = ajv.compile(asJsonSchema(schema));
  return (value) => validate(value) === true;
}

interface Tally {
  accepted: number;
  refused: number;
}

function expectBoth({ accepted, refused }: Tally): void {
  expect(Math.min(accepted, refused) / (accepted + refused)).toBeGreaterThan(0.03);
}

test('a body is accepted if and only if it is valid by the schema of its operation', () => {
  const tally: Tally = { accepted: 0, refused: 0 };
  const cases = schema.chain((schema) =>
    fc.tuple(fc.constant(schema), fc.array(valueFor(schema), { minLength: 4, maxLength: 8 })),
  );
  fc.assert(
    fc.property(cases, ([schema, values]) => {
      const content = { 'application/json': { schema } };
      const contract = load({
        '/things': { post: { requestBody: { required: true, content }, responses: done } },
      });
      const match = contract.match('POST', '/things');
      const rule = match.operation!.body!.media('application/json')!;
      const isValid = judgeOf(schema);
      for (const value of values) {
        const text = JSON.stringify(value);
        const accepted = rule.check(new TextEncoder().encode(text)).length === 0;
        tally[accepted ? 'accepted' : 'refused']++;
        expect({ text, schema, accepted }).toEqual({
          text,
          schema,
          accepted: isValid(JSON.parse(text)),
        });
      }
    }),
    { seed: SEED, numRuns: 150 },
  );
  expectBoth(tally);
});

test('a query parameter is accepted if and only if its text can be read as a valid value', () => {
  const tally: Tally = { accepted: 0, refused: 0 };
  const scalar = schema.filter(
    ({ type }) => typeof type === 'string' && type !== 'array' && type !== 'object',
  );
  const texts = fc.array(
    fc.constantFrom(
      '0',
      '1',
      '-1',
      '2',
      '3',
      '01',
      '1.0',
      '1e0',
      '+1',
      ' 1',
      'true',
      'false',
      'TRUE',
      'a',
      'ab',
      'abc',
      'x',
      '',
    ),
    { minLength: 3, maxLength: 6 },
  );
  fc.assert(
    fc.property(scalar, texts, (schema, texts) => {
      const parameters = [{ name: 'q', in: 'query', required: true, schema }];
      const { operation } = load({ '/things': { get: { parameters, responses: done } } }).match(
        'GET',
        '/things',
      );
      const isValid = judgeOf(schema);
      for (const text of texts) {
        const faults = operation!.checkParameters([], `q=${encodeURIComponent(text)}`, []);
        const value = readAs(schema.type as string, text);
        const accepted = faults.length === 0;
        tally[accepted ? 'accepted' : 'refused']++;
        expect({ text, schema, accepted }).toEqual({
          text,
          schema,
          accepted: value !== undefined && isValid(value),
        });
      }
    }),
    { seed: SEED, numRuns: 150 },
  );
  expectBoth(tally);
});

/**
 * The value of a text by the strictest reading: integers in digits, numbers as in JSON; `undefined`
 * if it has none.
 */
function readAs(type: string, text: string): unknown {
  if (type === 'string') return text;
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined;
  if (type === 'integer') return /^-?(0|[1-9]\d*)$/.test(text) ? Number(text) : undefined;
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? Number(text) : undefined;
}
