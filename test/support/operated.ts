import { bodyOf } from './failure.ts';
import type { TestGateway } from './gateway.ts';

export const OPERATED_PLANS = `
plans:
  free: { windows: [{ limit: 60, per: minute }, { limit: 1000, per: day }] }
  pro: { windows: [{ limit: 1200, per: minute }, { limit: 100000, per: day }] }
  trial: { windows: [{ limit: 5, per: minute }] }
bans: { strikes: 3, workers: 1, window: 1m, grace: 0s, durations: [5m, 1h], decay: 1d }
`;

export async function operate(gateway: TestGateway, token: string) {
  const admitted = { Authorization: `Bearer ${token}` };
  const issue = async (account: string, plan: string, label: string) => {
    const response = await gateway.admin.post('/keys').set(admitted).send({ account, plan, label });
    return bodyOf(response) as { id: string; key: string };
  };
  const shop = await issue('acme', 'pro', 'web shop');
  const mobile = await issue('acme', 'free', 'mobile app');
  const crawler = await issue('northwind', 'trial', 'price crawler');
  const old = await issue('contoso', 'free', 'partner, until May');
  const get = (key: string, path: string) => gateway.client.get(path).set('X-API-Key', key);
  for (let i = 0; i < 24; i++)
    await get(shop.key, ['/pets', '/categories', '/store/inventory'][i % 3]!);
  for (let i = 0; i < 8; i++) await get(mobile.key, i % 4 === 3 ? '/pets/0' : '/pets?limit=abc');
  for (let i = 0; i < 12; i++) await get(crawler.key, '/pets');
  for (let i = 0; i < 3; i++) await get('sg_test_wrong', '/pets');
  await gateway.admin.delete(`/keys/${old.id}`).set(admitted);
  return { shop, mobile, crawler, old };
}
