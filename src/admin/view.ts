import type { Entry, KeyStatus } from '@storegate/console';
import { formatDuration } from '../config/units.ts';
import { formatWindows } from '../config/windows.ts';
import type { KeyRecord } from '../keys/key.ts';
import { type AuditEntry, reasonOf } from '../keys/operators/audit-log.ts';
import type { BanEscalation } from '../limits/limits.ts';
import { DEFAULT_WEIGHT, type Plan } from '../limits/plans.ts';

/** Unix milliseconds in RFC 3339. */
export function time<At extends number | null>(at: At): string | (At & null) {
  return (at === null ? at : new Date(at).toISOString()) as string | (At & null);
}

/** To three digits, the precision of the measurement. */
export const rounded = (duration: number | null): number | null => duration && Number(duration.toPrecision(3));

export function planOptions({ concurrency, weight = DEFAULT_WEIGHT, addresses }: Plan) {
  return { concurrency: concurrency ?? null, weight, addresses: addresses ?? null };
}

export function statusOf({ revokedAt, disabledAt, expiresAt }: KeyRecord, now: number): KeyStatus {
  if (revokedAt !== null) return 'revoked';
  if (disabledAt !== null) return 'disabled';
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'active';
}

/** Without the hash; times in ISO 8601. */
export function keyView(record: KeyRecord, now: number, lastUsed: number | null) {
  const { id, account, plan, label, windows, rotatedAt, previous } = record;
  return {
    id,
    account,
    plan,
    label,
    limits: windows && formatWindows(windows),
    status: statusOf(record, now),
    created: time(record.createdAt),
    expires: time(record.expiresAt),
    disabled: time(record.disabledAt),
    revoked: time(record.revokedAt),
    lastUsed: time(lastUsed),
    addresses: record.addresses,
    scopes: record.scopes,
    metadata: record.metadata,
    imported: record.imported,
    rotation:
      rotatedAt === null
        ? null
        : { at: time(rotatedAt), overlapEnds: previous && previous.until > now ? time(previous.until) : null },
  };
}

/** The fields that operators can change. */
export function auditedKey(record: KeyRecord, now: number) {
  const { created: _created, lastUsed: _lastUsed, ...rest } = keyView(record, now, null);
  return rest;
}

export function entryView(entry: AuditEntry) {
  const { before, after } = entry as Pick<Entry, 'before' | 'after'>;
  return { ...entry, before, after, at: time(entry.at), reason: reasonOf(entry) };
}

export function escalationView({ strikes, window, grace, durations, decay }: BanEscalation) {
  const span = formatDuration;
  return { strikes, window: span(window), grace: span(grace), durations: durations.map(span), decay: span(decay) };
}
