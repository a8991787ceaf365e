import { expect, test } from '@jest/globals';
import { TestGateway } from '../support/gateway.ts';
import { fakeBackend } from '../support/upstream.ts';

test('behind a trusted proxy the chain of addresses is kept, and the client found in it', async () => {
  const backend = await fakeBackend((_request, response) => void response.end('[]'));
  const gateway = await TestGateway.start({
    backendUrl: `${backend.url}/base`,
    settings: 'http: {trustedProxies: [127.0.0.0/8]}',
  });
  const { secret, id } = await gateway.key({ plan: 'business', account: 'zoo' });
  await gateway.client
    .get('/pets?limit=3')
    .set('X-API-Key', secret)
    .set('X-Forwarded-For', '6.6.6.6, 198.51.100.7')
    .set('X-Forwarded-Proto', 'https')
    .set('X-Forwarded-Host', 'api.example');
  const [{ url, headers } = { url: '', headers: {} }] = backend.seen;
  expect(url).toBe('/base/pets?limit=3');
  expect(headers).toMatchObject({
    'x-forwarded-for': '6.6.6.6, 198.51.100.7, 127.0.0.1',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'api.example',
    'x-storegate-key-id': id,
    'x-storegate-account': 'zoo',
    'x-storegate-plan': 'business',
  });
  expect(gateway.log.find((line) => line.msg === 'request')).toMatchObject({
    address: '198.51.100.7',
  });
  await gateway.stop();
  await backend.close();
});
