import { createHmac } from 'node:crypto';
import { plainReason } from '../common/errors/plain-reason.ts';
import { readVersion } from '../common/version.ts';
import type { WebhookSettings } from '../config/config.ts';
import type { Message } from '../records/outbox.ts';
import { retryAfterOf } from './backoff.ts';

export type DeliveryResult =
  | { readonly delivered: true; readonly status: number }
  | {
      readonly delivered: false;
      /** `null`: no response. */
      readonly status: number | null;
      /** Never contains the address, whose path and query may be secret. */
      readonly error: string;
      /** Milliseconds. */
      readonly retryAfter: number | null;
      readonly isGone: boolean;
    };

interface DeliveryRequest {
  readonly url: string;
  readonly message: Pick<Message, 'id' | 'body'>;
  /** In addition, and in place of those of a webhook event. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly settings: Pick<
    WebhookSettings,
    'secret' | 'previousSecret' | 'timeout'
  >;
  /** Unix milliseconds. */
  readonly now: number;
  readonly signal: AbortSignal;
}

const GONE_STATUS = 410;
const AGENT = `storegate/${readVersion()}`;

/** Follows no redirect, because only settings name addresses, and reads only the response head. */
export async function send({
  url,
  message,
  headers: more = {},
  settings,
  now,
  signal,
}: DeliveryRequest): Promise<DeliveryResult> {
  const { id, body } = message;
  const { secret, previousSecret, timeout } = settings;
  const secrets = [secret, previousSecret].filter((one) => one !== null);
  const timestamp = Math.floor(now / 1_000);
  const signature = signaturesOf({ id, timestamp, body }, secrets);
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        'user-agent': AGENT,
        'webhook-id': id,
        'webhook-timestamp': `${timestamp}`,
        ...(signature !== '' && { 'webhook-signature': signature }),
        ...more,
      },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]),
    });
    response.body?.cancel().catch(() => {});
    const { status, headers } = response;
    if (response.ok) return { delivered: true, status };
    const retryAfter = retryAfterOf(headers.get('retry-after'), now);
    return {
      delivered: false,
      status,
      error: formatResponse(status),
      retryAfter,
      isGone: status === GONE_STATUS,
    };
  } catch (error) {
    return {
      delivered: false,
      status: null,
      error: reasonOf(error, timeout),
      retryAfter: null,
      isGone: false,
    };
  }
}

const PREFIX = 'whsec_';

/** Standard Webhooks 1.0.0: one signature per secret. `timestamp`: Unix seconds. */
export function signaturesOf(
  {
    id,
    timestamp,
    body,
  }: { readonly id: string; readonly timestamp: number; readonly body: string },
  secrets: readonly string[],
): string {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return signatures.join(' ');
}

function formatResponse(status: number): string {
  if (status >= 300 && status < 400)
    return `HTTP ${status}: redirects are not followed`;
  return status === GONE_STATUS
    ? `HTTP ${GONE_STATUS}: the endpoint wants no more events`
    : `HTTP ${status}`;
}

/** Only error codes: messages may contain parts of the address. */
function reasonOf(error: unknown, timeout: number): string {
  const { name, cause } = error as Error;
  if (name === 'TimeoutError') return `no response within ${timeout / 1_000} s`;
  const { code } = Object(cause) as { code?: unknown };
  const reason = plainReason(code, '');
  return reason === '' ? 'no response' : `no response: ${reason}`;
}
