import { expect, test } from '@jest/globals';
import { Outage } from '../../src/common/errors/outage.ts';
import { openOutbox } from '../../src/records/embedded/outbox.ts';
import type { AuditEntry, AuditQuery } from '../../src/records/operators/audit-log.ts';
import { createWebhooks } from '../../src/webhooks/webhooks.ts';
import { until } from '../support/until.ts';

const DAY = 86_400_000;
const settings = {
  // Nothing listens there: all events stay pending.
  url: 'http://127.0.0.1:9/',
  endpoints: [],
  events: ['key.created'],
  secret: `whsec_${Buffer.alloc(32).toString('base64')}`,
  previousSecret: null,
  timeout: 1_000,
  retryFor: DAY,
  maxPending: 100,
  keyExpiryNotice: DAY,
  minQuotaWindow: DAY,
} as const;

const after = {
  id: 'key_1',
  account: 'acme',
  plan: 'free',
  expires: null,
  imported: false,
  rotation: null,
};
const keys = { get: () => null, async *readExpiring() {}, watch: () => () => {} };

test('all new entries are sent for a log from a backup that ends before the last read position', async () => {
  const outbox = openOutbox(null);
  await outbox.move('audit', null, '500');
  const entry = (number: number) =>
    ({
      number,
      at: number,
      actor: 'local',
      action: 'keys.create',
      after: { ...after, id: `key_${number}` },
    }) as AuditEntry;
  const entries = [entry(1), entry(2)];
  const auditLog = {
    list: async ({ above, since = 0, limit = 100 }: AuditQuery) =>
      above === undefined
        ? entries
            .filter(({ at }) => at >= since)
            .slice(-limit)
            .reverse()
        : entries.filter(({ number }) => number > above),
  };
  let changed = () => {};
  const watch = (listener: () => void) => {
    changed = listener;
    return () => {};
  };
  const parts = {
    settings,
    gateway: 'gw',
    outbox,
    localOutbox: null,
    clock: Date.now,
    observe: () => {},
  };
  const gateway = createWebhooks({ ...parts, keys: { ...keys, watch }, auditLog });
  try {
    gateway.begin();
    await until('it is read', async () => (await outbox.mark('audit')) === '2');
    entries.push(entry(3));
    changed();
    await until('it is stored', async () => (await outbox.newest()) > 0);
    expect((await outbox.read(0, 9)).map(({ body }) => JSON.parse(body).data.key)).toEqual([
      'key_3',
    ]);
  } finally {
    await gateway.close();
    outbox.close();
  }
});

test('changes while no gateway ran are sent once by several that start together, however old they are', async () => {
  const outbox = openOutbox(null);
  await outbox.move('audit', null, '0');
  const entry = {
    number: 1,
    at: Date.now() - 3 * DAY,
    actor: 'local',
    action: 'keys.create',
    after,
  } as AuditEntry;
  const auditLog = { list: async ({ above = 0 }) => (above < 1 ? [entry] : []) };
  const open = () =>
    createWebhooks({
      settings,
      gateway: 'gw',
      outbox,
      localOutbox: null,
      keys,
      auditLog,
      clock: Date.now,
      observe: () => {},
    });
  const gateways = [open(), open()];
  try {
    for (const gateway of gateways) gateway.begin();
    await until('both have read it', async () => (await outbox.mark('expiring')) !== null);
    await Promise.all(gateways.map((gateway) => gateway.close()));
    expect(await outbox.newest()).toBe(1);
  } finally {
    outbox.close();
  }
});

test('all entries since the start are sent if the log could not be read at the start', async () => {
  const outbox = openOutbox(null);
  const entries: AuditEntry[] = [1, 2].map(
    (number) =>
      ({ number, at: number, actor: 'local', action: 'keys.create', after }) as AuditEntry,
  );
  let isDown = true;
  let requested = 0;
  const auditLog = {
    async list({ above, since = 0, limit }: AuditQuery) {
      requested++;
      if (isDown) throw new Outage('state_unavailable');
      const found = entries.filter(({ at, number }) => at >= since && number > (above ?? 0));
      return above === undefined ? found.slice(-limit).reverse() : found;
    },
  };
  let changed = () => {};
  const watch = (listener: () => void) => {
    changed = listener;
    return () => {};
  };
  const parts = {
    settings,
    gateway: 'gw',
    outbox,
    localOutbox: null,
    clock: () => 10,
    observe: () => {},
  };
  const gateway = createWebhooks({ ...parts, keys: { ...keys, watch }, auditLog });
  try {
    gateway.begin();
    await until('it was asked', () => requested > 0);
    entries.push({ ...entries[0]!, number: 3, at: 11, after: { ...after, id: 'key_3' } });
    isDown = false;
    changed();
    await until('it is stored', async () => (await outbox.newest()) > 0);
    expect((await outbox.read(0, 9)).map(({ body }) => JSON.parse(body).data.key)).toEqual([
      'key_3',
    ]);
  } finally {
    await gateway.close();
    outbox.close();
  }
});
