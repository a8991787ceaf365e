import { createHash } from 'node:crypto';
import type { Message, Once } from './outbox.ts';

/** The types of events, as settings and receivers name them; config/webhooks.schema.json says what each has. */
export const WEBHOOK_TYPES = [
  'ban.started',
  'quota.reached',
  'key.created',
  'key.rotated',
  'key.expiring',
  'key.first_used',
  'upstream.down',
  'upstream.up',
  'state.down',
  'state.up',
  'reload.failed',
] as const;
export type WebhookType = (typeof WEBHOOK_TYPES)[number] | 'test';

/** JSON values. */
export type Data = Readonly<Record<string, unknown>>;

/** An event that receivers are told of. Plain values: workers send it to their primary process. */
export interface WebhookEvent {
  readonly type: WebhookType;
  /** When it happened, Unix milliseconds. */
  readonly at: number;
  readonly data: Data;
  /** What its `webhook-id` is made of: gateways that see the same event make the same. */
  readonly identity: string;
  readonly once: Once;
  /** The shared state cannot be asked now, so this gateway keeps it by itself. */
  readonly apart?: true;
}

/** An event that is remembered by its identity, until then. */
export function remembered(type: WebhookType, at: number, identity: string, until: number, data: Data): WebhookEvent {
  return { type, at, data, identity, once: { name: `${type} ${identity}`, since: 0, until } };
}

/** The event as every receiver gets it. */
export function messageOf({ type, at, data, identity }: WebhookEvent): Message {
  return {
    id: `msg_${createHash('sha256').update(`${type} ${identity}`).digest('base64url').slice(0, 32)}`,
    type,
    body: JSON.stringify({ type, timestamp: timeOf(at), data: known(data) }),
  };
}

/** What is not known, or does not apply, is left out. */
function known(data: Data): Data {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null && value !== undefined));
}

export const timeOf = (at: number): string => new Date(at).toISOString();
