import { describe, expect, test } from '@jest/globals';
import { createApi } from '../src/browser/model/api.ts';
import type { ApiDocument, SchemaNode } from '../src/browser/model/document.ts';
import { mediaText, sample } from '../src/browser/model/example.ts';
import { requestOf } from '../src/browser/model/request.ts';
import { factsOf, membersOf, typeText } from '../src/browser/model/schema.ts';
import { publish } from '../src/publish.ts';

const PLAIN = 'zzzzzzzzzzzzzzzzzz';

const KEYWORDS = `$ref $id $anchor $dynamicRef $defs allOf oneOf anyOf not if then else properties
  patternProperties dependentSchemas dependentRequired additionalProperties unevaluatedProperties
  propertyNames prefixItems items unevaluatedItems contains contentSchema type nullable enum const
  default example examples required title description format pattern minimum exclusiveMinimum
  maximum multipleOf minLength maxLength minItems maxItems uniqueItems minProperties maxProperties
  contentMediaType contentEncoding readOnly writeOnly deprecated discriminator xml mapping
  x-try-it x-storegate-upstream constructor toString hasOwnProperty valueOf`.split(/\s+/);

const integer = { type: 'integer' };

function documentOf(name: string) {
  const ref = { $ref: `#/components/schemas/${name}` };
  const data = { [name]: { $ref: 'data', [`${name}_`]: 1 } };
  const media = { schema: ref, example: data, encoding: { [name]: { style: 'form' } } };
  const form = { schema: { type: 'object', properties: { [name]: integer, q_other: integer } } };
  const schema = {
    type: 'object',
    required: [name],
    properties: { [name]: { type: ['object', 'array'], items: ref }, q_number: integer },
    patternProperties: { [`^${name}_$`]: integer },
    dependentSchemas: { [name]: { required: ['q'] } },
    discriminator: { propertyName: name, mapping: { [name]: ref.$ref } },
    example: data,
    'x-any': data,
  };
  const parameter = { name, in: 'query', schema: integer };
  return {
    openapi: '3.1.0',
    info: {},
    paths: {
      '/a': {
        post: {
          operationId: name,
          parameters: [{ ...parameter, examples: { [name]: { value: data } } }],
          requestBody: {
            content: { 'application/json': media, 'application/x-www-form-urlencoded': form },
          },
          responses: { 200: { description: '', headers: { [name]: { schema: ref } } } },
        },
      },
    },
    components: {
      schemas: { [name]: schema, Sample: { ...schema, example: undefined } },
      examples: { [name]: { value: data } },
      parameters: { [name]: parameter },
    },
    'x-any': data,
  };
}

/** What the page shows. */
function shownOf(name: string) {
  const root = JSON.parse(JSON.stringify(documentOf(name))) as ApiDocument;
  const api = createApi(root);
  const nodes = Object.values(root.components!.schemas!);
  const [row] = [...api.rows.values()].flat();
  const content = api.body(row!)!.content!;
  const draft = {
    values: { [`query ${name}`]: '1' },
    mediaType: 'application/x-www-form-urlencoded',
    fields: { q_other: '2' },
    files: {},
    text: '',
    accept: null,
  };
  const nothing = { headers: [], query: [], cookies: [] };
  const request = (fields: Record<string, string>) =>
    requestOf(api, row!, '', { ...draft, fields }, nothing);
  return {
    members: nodes.map((node) => membersOf(api, node)),
    types: nodes.map((node: SchemaNode) => typeText(api, node)),
    facts: nodes.map((node) => factsOf(api.schema(node))),
    samples: nodes.map((node) => sample(api, node, 'request')),
    example: JSON.parse(
      mediaText(api, content['application/json']!, 'application/json', 'request'),
    ),
    requests: [request({ q_other: '2' }), request({ [name]: '1' })].map(({ url, body }) =>
      decodeURIComponent(`${url} ${body}`),
    ),
  };
}

describe('a name that is a keyword elsewhere', () => {
  const plain = JSON.stringify(shownOf(PLAIN));

  test.each(KEYWORDS)('%s is published as it is written', (name) => {
    const document = documentOf(name);
    expect(publish(document)).toEqual(document);
  });

  test.each(KEYWORDS)('%s is shown like any other', (name) => {
    const shown = JSON.parse(JSON.stringify(shownOf(name)));
    expect(shown).toEqual(JSON.parse(plain.replaceAll(PLAIN, name)));
  });
});

test('a field that every object inherits is not a constraint', () => {
  expect(factsOf({ constructor: 1, toString: true, minimum: 1 } as never)).toEqual(['≥ 1']);
});
