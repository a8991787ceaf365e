import type { DatabaseSync } from 'node:sqlite';
import { hashSecret, makeKeyId, makeSecret } from '../../src/keys/secret.ts';

/** Whom the gateway meets: somebody new with every request. */
export const KINDS = ['unknown keys', 'addresses', 'known keys'] as const;
export type Kind = (typeof KINDS)[number];

/** Statuses that the gateway may answer, by kind. */
export const ANSWERS: Readonly<Record<Kind, readonly string[]>> = {
  'unknown keys': ['401', '429'],
  addresses: ['401', '429'],
  'known keys': ['404'],
};

/** Settings under which whoever has left is forgotten within seconds, and a proxy may name any address. */
export const SETTINGS = `log: { level: silent }
plans: { file: plans.yaml }
door: { trustedProxies: [127.0.0.0/8], guard: { failures: 60, span: 10s } }
`;
export const PLANS = 'plans: { free: { windows: [{ limit: 1000, per: second }] } }\n';
/** Milliseconds after which the longest window of SETTINGS and PLANS is over, and the state has looked. */
export const FORGOTTEN = 13_000;

/** The request of the stranger with this number. `secrets`: those of known keys, one after the other. */
export function requestOf(kind: Kind, number: number, secrets: string): string {
  const head = 'GET /no/such/path HTTP/1.1\r\nHost: bench\r\n';
  if (kind === 'unknown keys') return `${head}X-API-Key: ${makeSecret('bench')}\r\n\r\n`;
  if (kind === 'addresses') return `${head}X-Forwarded-For: ${addressOf(number)}\r\n\r\n`;
  const { length } = makeSecret('bench');
  const at = (number * length) % secrets.length;
  return `${head}X-API-Key: ${secrets.slice(at, at + length)}\r\n\r\n`;
}

function addressOf(number: number): string {
  return `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
}

/** Writes so many keys into the gateway's file; answers their secrets. A million calls of the command line would take hours. */
export function makeKeys(db: DatabaseSync, count: number): string {
  const insert = db.prepare('INSERT INTO keys (id, hash, record) VALUES (?, ?, ?)');
  const secrets: string[] = [];
  db.exec('BEGIN');
  for (let i = 0; i < count; i++) {
    const secret = makeSecret('bench');
    const own = { id: makeKeyId(), hash: hashSecret(secret) };
    const free = { plan: 'free', label: null, windows: null, expiresAt: null, revokedAt: null };
    insert.run(own.id, own.hash, JSON.stringify({ ...own, account: `account-${i}`, createdAt: 1, ...free }));
    secrets.push(secret);
  }
  db.exec('COMMIT');
  return secrets.join('');
}
