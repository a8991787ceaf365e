import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { done, head } from '../../packages/openapi/test/documents.ts';
import { Fixture } from '../hostile/fixture.ts';
import { adminOf } from '../support/admin.ts';
import { TestGateway } from '../support/gateway.ts';

const wrong = [{ name: 'q', in: 'query', schema: { type: 'string', pattern: '(' } }];
const content = { 'application/json': { schema: { type: 'integer' } } };
const paths = {
  '/good': { get: { operationId: 'good', responses: done } },
  '/bad': {
    get: { operationId: 'bad', parameters: wrong, responses: done },
    put: { operationId: 'put', requestBody: { content }, parameters: wrong, responses: done },
  },
};

const folder = mkdtempSync(join(tmpdir(), 'contract-'));
const file = join(folder, 'openapi.json');
const settings = (leniency: string) =>
  `contract: {file: "${file}", onUnsupported: ${leniency}}
apis: [{name: below, path: /bad/a, contract: none, stripPath: false, target: 'http://127.0.0.1:9'}]
`;
const fixtures: Fixture[] = [];

beforeAll(() => writeFileSync(file, JSON.stringify({ ...head, paths })));
afterAll(async () => {
  for (const fixture of fixtures) await fixture.stop();
  rmSync(folder, { recursive: true });
});

async function start(leniency: string): Promise<Fixture> {
  const fixture = await Fixture.start({ settings: settings(leniency) });
  fixtures.push(fixture);
  return fixture;
}

const exempted = (fixture: Fixture) =>
  fixture.gateway.log.filter(({ msg }) => msg === 'contract.exempted');
const metric = async (fixture: Fixture) =>
  /storegate_contract_unsupported_operations (\d+)/.exec(
    (await fixture.gateway.admin.get('/metrics')).text,
  )?.[1];
const put = (fixture: Fixture, type: string) =>
  fixture.request('PUT /bad?other=1', [`Content-Type: ${type}`, 'Content-Length: 3'], '"x"');

test('a contract with mistakes prevents a start by default', async () => {
  const options = { settings: settings('refuse'), backendUrl: 'http://127.0.0.1:9' };
  await expect(TestGateway.start(options)).rejects.toThrow(/the pattern is not valid/);
});

test('operations with mistakes are skipped, reported once, counted, and not published', async () => {
  const fixture = await start('omit');
  expect(await fixture.ask(fixture.request('GET /good'))).toMatchObject({ status: 200 });
  expect(await fixture.ask(fixture.request('GET /bad'))).toMatchObject({ status: 404 });
  // An API below the path of an operation.
  expect(await fixture.ask(fixture.request('GET /bad/a'))).toMatchObject({ status: 502 });
  expect(exempted(fixture)).toEqual([expect.objectContaining({ level: 40, count: 2 })]);
  expect(JSON.stringify(exempted(fixture))).toMatch(
    /bad \(GET \/bad\) left out: [^"]*openapi\.json:1:\d+ [^"]*\/pattern: the/,
  );
  expect(await metric(fixture)).toBe('2');
  const { body } = await fixture.gateway.client.get('/openapi.json');
  expect([Object.keys(body.paths['/good']), body.paths['/bad']]).toEqual([['get'], {}]);
});

test('they only report, until the contract is fixed', async () => {
  const fixture = await start('report, responses: enforce');
  fixture.backend.respond = (socket) =>
    void socket.write('HTTP/1.1 299 Odd\r\nContent-Length: 0\r\n\r\n');
  expect(await fixture.ask(put(fixture, 'application/json'))).toMatchObject({ status: 299 });
  const faults = fixture.gateway.log.filter(({ msg }) => msg === 'contract.fault');
  expect(faults.map(({ side, count }) => [side, count])).toEqual([
    ['request', 2],
    ['response', 1],
  ]);
  const fixed = JSON.stringify({ ...head, paths }).replaceAll('"("', '"x"');
  writeFileSync(file, fixed);
  expect((await adminOf(fixture.gateway.adminUrl)('POST', '/reload')).status).toBe(200);
  expect(await metric(fixture)).toBe('0');
  expect(await fixture.ask(put(fixture, 'application/json'))).toMatchObject({ status: 400 });
  expect(exempted(fixture)).toHaveLength(1);
});
