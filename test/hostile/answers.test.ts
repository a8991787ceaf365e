import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ANSWERS } from '../../packages/http1/test/cases/answers.ts';
import { TestGateway } from '../support/gateway.ts';
import { attack, keysOf, OtherClient, pet, petIn } from './other-client.ts';
import { RecordingBackend, valuesOf } from './recording-backend.ts';

let hostile = { bytes: '', ends: false };
let backend: RecordingBackend;
let gateway: TestGateway;
beforeAll(async () => {
  backend = await RecordingBackend.start((socket, request) => {
    const isOthers = valuesOf(request, 'x-storegate-account').includes('other-client');
    const body = pet(petIn(request.line));
    const good = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    socket.write(Buffer.from(isOthers ? good : hostile.bytes, 'latin1'));
    if (!isOthers && hostile.ends) socket.end();
  });
  gateway = await TestGateway.start({
    backendUrl: backend.url,
    settings: 'upstream: {connections: 1}',
  });
});
afterAll(async () => {
  await gateway.stop();
  await backend.close();
});

test('whatever the backend sends to one client, the next gets the response to its own request', async () => {
  const keys = await keysOf(gateway);
  const other = new OtherClient(gateway.url, keys.other);
  for (const { what, bytes, method = 'GET', ends = false } of ANSWERS) {
    hostile = { bytes, ends };
    await attack(
      gateway.url,
      `${method} /pets/666 HTTP/1.1\r\nHost: a\r\nX-API-Key: ${keys.attacker}\r\n\r\n`,
    );
    expect([what, await other.ask()]).toEqual([what, { status: 200, id: other.pet, name: 'Rex' }]);
  }
  other.close();
  const ofOther = backend.requests.filter((request) =>
    valuesOf(request, 'x-storegate-account').includes('other-client'),
  );
  expect(ofOther.map(({ line }) => line)).toEqual(
    ANSWERS.map((_, i) => `GET /pets/${1_001 + i} HTTP/1.1`),
  );
  expect(backend.requests.length).toBeGreaterThanOrEqual(2 * ANSWERS.length);
  expect(gateway.log.filter(({ msg }) => msg === 'bug')).toEqual([]);
});
