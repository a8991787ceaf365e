import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Outage } from '../../src/common/errors/outage.ts';
import { openOutbox } from '../../src/records/embedded/outbox.ts';
import type { AuditEntry, AuditLog, AuditQuery } from '../../src/records/operators/audit-log.ts';
import type { Outbox } from '../../src/records/outbox.ts';
import { DAY } from '../support/limits.ts';
import { until } from '../support/until.ts';
import { creation, settings, webhooksOf } from './webhooks.ts';

let outbox: Outbox;
beforeEach(() => {
  outbox = openOutbox(null);
});
afterEach(() => outbox.close());

function open(auditLog: Pick<AuditLog, 'list'>, clock = Date.now) {
  let changed = () => {};
  const watch = (listener: () => void) => {
    changed = listener;
    return () => {};
  };
  const keys = { get: () => null, async *readExpiring() {}, watch };
  const events = ['key.created'] as const;
  const parts = { settings: { ...settings, events }, keys, auditLog, clock };
  return { ...webhooksOf(outbox, parts), change: () => changed() };
}

const storedKeys = async () => {
  await until('one is stored', async () => (await outbox.newest()) > 0);
  return (await outbox.read(0, 9)).map(({ body }) => JSON.parse(body).data.key);
};

test('all new entries are sent for a log from a backup that ends before the last read position', async () => {
  await outbox.move('audit', null, '500');
  const entries = [creation(1), creation(2)];
  const list = async ({ above, since = 0, limit = 100 }: AuditQuery) =>
    above === undefined
      ? entries
          .filter(({ at }) => at >= since)
          .slice(-limit)
          .reverse()
      : entries.filter(({ number }) => number > above);
  const gateway = open({ list });
  gateway.begin();
  await until('it is read', async () => (await outbox.mark('audit')) === '2');
  entries.push(creation(3));
  gateway.change();
  expect(await storedKeys()).toEqual(['key_3']);
  await gateway.close();
});

test('changes while no gateway ran are sent once by several that start together, however old they are', async () => {
  await outbox.move('audit', null, '0');
  const entry = creation(1, Date.now() - 3 * DAY);
  const list = async ({ above = 0 }) => (above < 1 ? [entry] : []);
  const gateways = [open({ list }), open({ list })];
  for (const gateway of gateways) gateway.begin();
  await until('both have read it', async () => (await outbox.mark('expiring')) !== null);
  await Promise.all(gateways.map((gateway) => gateway.close()));
  expect(await outbox.newest()).toBe(1);
});

test('all entries since the start are sent if the log could not be read at the start', async () => {
  const entries: AuditEntry[] = [creation(1), creation(2)];
  let isDown = true;
  let requested = 0;
  const list = async ({ above, since = 0, limit }: AuditQuery) => {
    requested++;
    if (isDown) throw new Outage('state_unavailable');
    const found = entries.filter(({ at, number }) => at >= since && number > (above ?? 0));
    return above === undefined ? found.slice(-limit).reverse() : found;
  };
  const gateway = open({ list }, () => 10);
  gateway.begin();
  await until('it was asked', () => requested > 0);
  entries.push(creation(3, 11));
  isDown = false;
  gateway.change();
  expect(await storedKeys()).toEqual(['key_3']);
  await gateway.close();
});
