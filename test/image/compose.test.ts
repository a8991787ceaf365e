import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { Compose } from './compose.ts';
import { Network } from './containers.ts';
import { buildImage, type Image } from './image.ts';

const temporary = temporaryFolders({ keep: true });
const TOKEN = 'a-token-of-the-test-0123456789abcdef';

let image: Image;
let network: Network;
let compose: Compose;
let url: string;
let key: string;
beforeAll(async () => {
  image = buildImage();
  network = new Network(temporary());
  compose = new Compose(image, network, temporary(), { 'admin-token': TOKEN });
  const balancer = await compose.up('balancer');
  url = `http://${balancer.address}:8080/pets`;
  await until(
    'the balancer forwards',
    () =>
      balancer.isRunning() &&
      fetch(url).then(
        ({ status }) => status === 401,
        () => false,
      ),
  );
  const created = compose
    .get('gateway-1')
    .run(['storegate', 'keys', 'create', '--plan', 'free', '--account', 'acme', '--key-only']);
  key = created.out.trim();
}, 900_000);
afterAll(async () => {
  await network?.close();
  image?.remove();
});

const get = () => fetch(url, { headers: { 'X-API-Key': key, Connection: 'close' } });

test('both gateways count together, and know the client behind the balancer', async () => {
  const statuses = [];
  for (let i = 0; i < 62; i++) statuses.push((await get()).status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(60);
  expect(statuses.slice(60)).toEqual([429, 429]);
  for (const name of ['gateway-1', 'gateway-2'])
    expect(compose.get(name).output).toContain('"address":"172.31.77.1"');
});

test('the secret is a file, and guards the admin listener', async () => {
  const gateway = compose.get('gateway-1');
  expect(gateway.run(['env']).out).not.toContain(TOKEN);
  const list = `http://${gateway.address}:9901/keys`;
  expect((await fetch(list)).status).toBe(401);
  expect((await fetch(list, { headers: { Authorization: `Bearer ${TOKEN}` } })).status).toBe(200);
});

test('a restart of each gateway loses no request', async () => {
  let isDone = false;
  const failed: unknown[] = [];
  let sent = 0;
  const load = (async () => {
    while (!isDone) {
      sent++;
      await get().then(
        ({ status }) => [200, 429, 403].includes(status) || failed.push(status),
        (error) => failed.push(error),
      );
    }
  })();
  for (const name of ['gateway-1', 'gateway-2']) {
    const gateway = compose.get(name);
    gateway.signal('SIGTERM');
    expect(await gateway.exit).toBe(0);
    await compose.up(name);
    await compose.untilHealthy(name);
    await until('the balancer uses it', async () => {
      await get();
      return compose.get(name).output.includes('"status":');
    });
  }
  isDone = true;
  await load;
  expect(failed).toEqual([]);
  expect(sent).toBeGreaterThan(0);
});
