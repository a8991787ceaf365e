import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { RecordingBackend, valuesOf } from '../hostile/recording-backend.ts';
import { Wire } from '../hostile/wire.ts';
import { freePort } from '../support/free-port.ts';
import { TestGateway } from '../support/gateway.ts';
import { temporaryFolders } from '../support/temporary.ts';

const OURS = /^1\.1 storegate-[0-9a-f]{8}$/;
const OPEN = `
openapi: 3.0.3
info: { title: Open, version: '1' }
paths: { /open: { get: { security: [], responses: { '200': { description: Open } } } } }
`;

async function ask(url: string, secret: string | null, line: string) {
  const wire = await Wire.open(url);
  const key = secret === null ? [] : [`X-API-Key: ${secret}`];
  const lines = [line.includes(' HTTP/') ? line : `${line} HTTP/1.1`, 'Host: api', ...key];
  const response = await wire.send(`${lines.join('\r\n')}\r\n\r\n`).answer();
  wire.close();
  return response;
}

test('Via has the version in which the message was received, and the same name after a reload', async () => {
  const backend = await RecordingBackend.start();
  const gateway = await TestGateway.start({ backendUrl: backend.url });
  const { secret } = await gateway.key();
  await ask(gateway.url, secret, 'GET /pets HTTP/1.0');
  const [via] = valuesOf(backend.requests.at(-1)!, 'via');
  expect(via).toMatch(/^1\.0 storegate-/);
  expect((await gateway.admin.post('/reload')).status).toBe(200);
  backend.respond = (socket) =>
    socket.end('HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n[]');
  expect((await ask(gateway.url, secret, 'GET /pets')).headers.via).toBe(via);
  await gateway.stop();
  await backend.close();
});

describe('a loop', () => {
  const folder = temporaryFolders();
  const gateways: TestGateway[] = [];
  let backend: RecordingBackend;
  beforeAll(async () => {
    backend = await RecordingBackend.start();
  });
  afterEach(async () => {
    for (const gateway of gateways.splice(0)) await gateway.stop();
  });
  afterAll(() => backend.close());

  async function start(port: number, backend: number, settings = ''): Promise<TestGateway> {
    const backendUrl = `http://127.0.0.1:${backend}`;
    const env = { STOREGATE_PORT: `${port}` };
    const gateway = await TestGateway.start({
      backendUrl,
      settings: `keys: {hide: false}\n${settings}`,
      env,
    });
    gateways.push(gateway);
    return gateway;
  }

  test('through another gateway is refused when it returns; a chain of gateways is not', async () => {
    const file = join(folder(), 'open.yaml');
    writeFileSync(file, OPEN);
    const [first, second] = [await freePort(), await freePort()];
    const settings = `contract: {file: ${file}}`;
    await start(first, second, settings);
    const other = await start(second, first, settings);
    const looped = await ask(gateways[0]!.url, null, 'GET /open');
    expect(looped).toMatchObject({ status: 508, code: 'loop_detected' });
    const [outer, inner, ...more] = looped.headers.via!.split(', ').reverse();
    expect([outer, inner, more]).toEqual([
      expect.stringMatching(OURS),
      expect.stringMatching(OURS),
      [],
    ]);
    expect(outer).not.toBe(inner);
    expect(
      Number(looped.headers['x-ratelimit-limit']) - Number(looped.headers['x-ratelimit-remaining']),
    ).toBe(1);

    await other.stop();
    await start(second, Number(new URL(backend.url).port), settings);
    expect((await ask(gateways[0]!.url, null, 'GET /open')).status).toBe(200);
    expect(valuesOf(backend.requests[0]!, 'via')).toEqual([outer, expect.stringMatching(OURS)]);
  });
});
