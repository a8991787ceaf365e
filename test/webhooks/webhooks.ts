import { randomBytes } from 'node:crypto';
import type { AuditEntry } from '../../src/records/operators/audit-log.ts';
import type { Outbox } from '../../src/records/outbox.ts';
import { createWebhooks } from '../../src/webhooks/webhooks.ts';
import { DAY } from '../support/limits.ts';

export const settings = {
  // Nothing listens there: all events stay pending.
  url: 'http://127.0.0.1:9/',
  endpoints: [],
  events: [],
  secret: `whsec_${randomBytes(32).toString('base64')}`,
  previousSecret: null,
  timeout: 1_000,
  retryFor: DAY,
  maxPending: 10_000,
  keyExpiryNotice: DAY,
  minQuotaWindow: DAY,
};

/** Of a gateway without keys and without entries, unless `parts` says more. */
export const webhooksOf = (
  outbox: Outbox,
  parts: Partial<Parameters<typeof createWebhooks>[0]> = {},
) =>
  createWebhooks({
    settings,
    gateway: 'gw-1',
    outbox,
    localOutbox: null,
    keys: { get: () => null, async *readExpiring() {}, watch: () => () => {} },
    auditLog: { list: async () => [] },
    clock: Date.now,
    observe: () => {},
    ...parts,
  });

/** Of the key `key_` with its number. */
export const creation = (number: number, at = number) =>
  ({
    number,
    at,
    actor: 'local',
    action: 'keys.create',
    after: {
      id: `key_${number}`,
      account: 'acme',
      plan: 'free',
      expires: null,
      imported: false,
      rotation: null,
    },
  }) as AuditEntry;
