import { createHash } from 'node:crypto';
import type { Message, Once } from '../records/outbox.ts';

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
  'health.changed',
] as const;
export type WebhookType = (typeof WEBHOOK_TYPES)[number] | 'test';

/** JSON values. */
export type Data = Readonly<Record<string, unknown>>;

/** Plain values: workers send it to their primary process. */
export interface WebhookEvent {
  readonly type: WebhookType;
  /** Unix milliseconds. */
  readonly at: number;
  readonly data: Data;
  /** Source of its `webhook-id`: gateways that detect the same event create the same id. */
  readonly identity: string;
  readonly once: Once;
  /** The shared state is down, so this gateway stores the event itself. */
  readonly apart?: true;
}

export function uniqueEvent(
  type: WebhookType,
  at: number,
  identity: string,
  until: number,
  data: Data,
): WebhookEvent {
  return {
    type,
    at,
    data,
    identity,
    once: { name: `${type} ${identity}`, since: 0, until },
  };
}

export function messageOf({ type, at, data, identity }: WebhookEvent): Message {
  return {
    id: `msg_${createHash('sha256').update(`${type} ${identity}`).digest('base64url').slice(0, 32)}`,
    type,
    body: JSON.stringify({
      type,
      timestamp: timeOf(at),
      data: withoutEmpty(data),
    }),
  };
}

/** Without fields that are unknown or do not apply. */
export function withoutEmpty(data: Data): Data {
  return Object.fromEntries(
    Object.entries(data).filter(
      ([, value]) => value !== null && value !== undefined,
    ),
  );
}

export const timeOf = (at: number): string => new Date(at).toISOString();
