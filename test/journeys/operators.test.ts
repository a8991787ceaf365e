import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TestGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';

let gateway: TestGateway;
let secret: string;
let id: string;
beforeAll(async () => {
  gateway = await TestGateway.start();
  ({ secret, id } = await gateway.key());
});
afterAll(() => gateway.stop());

describe('monitoring', () => {
  test('sees live and ready on the admin listener only', async () => {
    expect((await gateway.admin.get('/health/live')).status).toBe(200);
    expect((await gateway.admin.get('/health/ready')).body).toEqual({ status: 'ready' });
    for (const path of ['/health/live', '/metrics']) {
      expect((await gateway.client.get(path).set('X-API-Key', secret)).status).toBe(404);
    }
  });

  test('counts requests by operation, method and status, and shows no key', async () => {
    await gateway.client.get('/pets').set('X-API-Key', secret);
    await gateway.client.get('/pets');
    await gateway.client.get('/no/such/path/at/all').set('X-API-Key', secret);
    const text = async () => (await gateway.admin.get('/metrics')).text;
    await until('three requests are counted', async () =>
      (await text()).includes('code="not_found"'),
    );
    const metrics = await text();
    expect(metrics).toContain(
      'storegate_requests_total{operation="listPets",method="GET",status="200"} 1',
    );
    expect(metrics).toContain('storegate_refusals_total{code="missing_api_key"} 1');
    expect(metrics).toContain('storegate_admissions_total{plan="free",verdict="admitted"}');
    expect(metrics).toContain('process_cpu_seconds_total');
    for (const private_ of [secret, id, '/no/such/path', 'acme'])
      expect(metrics).not.toContain(private_);
  });

  test('reads one log line for each request, with client, request and duration', async () => {
    const response = await gateway.client.get('/categories').set('X-API-Key', secret);
    const find = () => gateway.log.find((line) => line.id === response.headers['x-request-id']);
    await until('the request is logged', () => find() !== undefined);
    expect(find()).toMatchObject({
      msg: 'request',
      operation: 'listCategories',
      method: 'GET',
      status: 200,
      complete: true,
      verdict: 'admitted',
      keyId: id,
      account: 'acme',
      plan: 'free',
      address: '127.0.0.1',
      duration: expect.any(Number),
      upstream: expect.any(Number),
    });
    expect(JSON.stringify(gateway.log)).not.toContain(secret);
  });

  test('needs the token if one is set, except for health', async () => {
    const token = 'correct horse battery staple'.replaceAll(' ', '-');
    const guarded = await TestGateway.start({ env: { STOREGATE_ADMIN_TOKEN: token } });
    expect((await guarded.admin.get('/health/ready')).status).toBe(200);
    const refused = await guarded.admin.get('/metrics');
    expect(refused.status).toBe(401);
    expect(refused.headers['www-authenticate']).toContain('Bearer');
    expect((await guarded.admin.get('/metrics').set('Authorization', 'Bearer wrong')).status).toBe(
      401,
    );
    expect(
      (await guarded.admin.get('/metrics').set('Authorization', `Bearer ${token}`)).status,
    ).toBe(200);
    await guarded.stop();
  });
});
