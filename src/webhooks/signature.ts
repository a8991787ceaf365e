import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

/** `timestamp`: Unix seconds. */
export interface Signed {
  readonly id: string;
  readonly timestamp: number;
  readonly body: string;
}

/** Standard Webhooks 1.0.0: one signature per secret. */
export function signaturesOf({ id, timestamp, body }: Signed, secrets: readonly string[]): string {
  return secrets.map((secret) => `v1,${hmacOf(`${id}.${timestamp}.${body}`, secret)}`).join(' ');
}

function hmacOf(text: string, secret: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return createHmac('sha256', key).update(text).digest('base64');
}
