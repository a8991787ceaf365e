import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { BOUNDARY, body, field, file } from '../../packages/openapi/test/forms.ts';
import { Stand } from '../hostile/stand.ts';

const contract = join(
  import.meta.dirname,
  '../../packages/openapi/test/fixtures/garden/openapi.yaml',
);

let stand: Stand;
beforeAll(async () => {
  stand = await Stand.start({ settings: `contract: {file: "${contract}"}\n` });
});
afterAll(() => stand.stop());

/** Returns the faults, each with its rule; none if the backend received these exact bytes. */
async function faultsOf(line: string, text: string, type = 'application/json'): Promise<string[]> {
  const headers = [`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(text)}`];
  const { status, body: answer } = await stand.ask(stand.request(line, headers, text));
  if (status === 200) {
    expect(stand.backend.requests.at(-1)).toMatchObject({ body: text });
    return [];
  }
  expect(status).toBe(400);
  expect(answer).not.toContain('sent-value');
  const { details } = JSON.parse(answer) as {
    details: { pointer: string; rule: string; limit?: unknown }[];
  };
  return details
    .map(({ pointer, rule, limit }) => `${pointer} ${rule} ${limit ?? ''}`.trim())
    .sort();
}

test('requests are validated by JSON Schema 2020-12', async () => {
  expect(await faultsOf('POST /plants', '{"name":"rose","seeds":["first",1],"note":null}')).toEqual(
    [],
  );
  expect(await faultsOf('POST /plants', '{"height":0,"seeds":["sent-value"],"note":7}')).toEqual([
    '/height exclusiveMinimum 0',
    '/name required',
    '/note type string,null',
    '/seeds/0 const first',
  ]);
  expect(await faultsOf('POST /plants', '{"name":"rose","color":"sent-value"}')).toEqual([
    '/color unevaluatedProperties',
  ]);
  expect(await faultsOf('PUT /trees', '{"branches":[{"leaves":1}]}')).toEqual([]);
  expect(await faultsOf('PUT /trees', '{"branches":[{"x":"sent-value"}]}')).toEqual([
    '/branches/0/x unevaluatedProperties',
  ]);
});

test('so are parameters and forms', async () => {
  expect(await stand.ask(stand.request('GET /beds/7?color=green&rows=1&rows=2'))).toMatchObject({
    status: 200,
  });
  expect(await stand.ask(stand.request('GET /beds/0'))).toMatchObject({ status: 400 });
  const type = `multipart/form-data; boundary=${BOUNDARY}`;
  expect(
    await faultsOf(
      'POST /plants',
      body(field('name', 'rose'), file('photo', 'x', 'image/png')),
      type,
    ),
  ).toEqual([]);
  expect(
    await faultsOf('POST /plants', body(field('name', 'rose'), field('x', 'sent-value')), type),
  ).toEqual(['/x unevaluatedProperties']);
});

test('the published contract is the same without identifiers, with additions of the gateway in its version', async () => {
  const { body: published } = await stand.gateway.client.get('/openapi.json');
  expect(published).toMatchObject({
    openapi: '3.1.1',
    paths: { '/usage': { get: { operationId: 'getUsage' } } },
  });
  expect(JSON.stringify(published.paths['/usage'])).not.toContain('nullable');
  expect(JSON.stringify(published)).not.toContain('"$id"');
});
