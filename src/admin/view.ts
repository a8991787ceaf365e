import type {
  Connections,
  ContractCopy,
  Entry,
  KeyStatus,
} from '@storegate/admin-api';
import { notFuture } from '../common/time.ts';
import { formatDuration } from '../config/units.ts';
import { formatWindows } from '../config/windows.ts';
import type { BanEscalation } from '../limits/limits.ts';
import { DEFAULT_WEIGHT, type Plan } from '../limits/plans.ts';
import type { BackendOfAll } from '../observe/peers/backends.ts';
import type {
  BackendConnections,
  ConfigurationStatus,
} from '../observe/peers/status.ts';
import type { KeyRecord } from '../records/keys/key.ts';
import type { AuditEntry } from '../records/operators/audit-log.ts';

/** Unix milliseconds in RFC 3339. */
export function time<At extends number | null>(at: At): string | (At & null) {
  return (at === null ? at : new Date(at).toISOString()) as
    | string
    | (At & null);
}

export function planView(plan: Plan) {
  return {
    count: plan.count,
    limits: plan.windows && formatWindows(plan.windows),
    ...planOptions(plan),
  };
}

export function planOptions({
  concurrency,
  weight = DEFAULT_WEIGHT,
  workers,
  addresses,
}: Plan) {
  return {
    concurrency: concurrency ?? null,
    weight,
    workers: workers ?? null,
    addresses: addresses ?? null,
  };
}

/** `isBanned`: whether the subject of the key is banned. */
export function statusOf(
  { revokedAt, disabledAt, expiresAt }: KeyRecord,
  now: number,
  isBanned = false,
): KeyStatus {
  if (revokedAt !== null) return 'revoked';
  if (disabledAt !== null) return 'disabled';
  if (expiresAt !== null && expiresAt <= now) return 'expired';
  return isBanned ? 'banned' : 'active';
}

/** Without the hash; times in ISO 8601. */
export function keyView(
  record: KeyRecord,
  now: number,
  lastUsed: number | null,
  isBanned = false,
) {
  const { id, account, plan, label, windows, rotatedAt, previous } = record;
  return {
    id,
    account,
    plan,
    label,
    limits: windows && formatWindows(windows),
    status: statusOf(record, now, isBanned),
    created: time(record.createdAt),
    expires: time(record.expiresAt),
    disabled: time(record.disabledAt),
    revoked: time(record.revokedAt),
    lastUsed: time(lastUsed === null ? null : notFuture(lastUsed, now)),
    addresses: record.addresses,
    scopes: record.scopes,
    ...(record.apis && { apis: record.apis }),
    metadata: record.metadata,
    imported: record.imported,
    rotation:
      rotatedAt === null
        ? null
        : {
            at: time(rotatedAt),
            overlapEnds:
              previous && previous.until > now ? time(previous.until) : null,
          },
  };
}

/** The fields that operators can change. */
export function auditedKey(record: KeyRecord, now: number) {
  const {
    created: _created,
    lastUsed: _lastUsed,
    ...rest
  } = keyView(record, now, null);
  return rest;
}

export function entryView(entry: AuditEntry) {
  const { before, after } = entry as Pick<Entry, 'before' | 'after'>;
  return {
    ...entry,
    before,
    after,
    at: time(entry.at),
    reason: entry.reason ?? null,
  };
}

export function escalationView(escalation: BanEscalation) {
  const { strikes, window, workers, minWorkers, grace, durations, decay } =
    escalation;
  return {
    strikes,
    window: formatDuration(window),
    workers,
    minWorkers,
    grace: formatDuration(grace),
    durations: durations.map(formatDuration),
    decay: formatDuration(decay),
  };
}

/** `copy`: Unix milliseconds. */
export const contractCopyView = (
  copy: ConfigurationStatus['copy'],
): ContractCopy | null =>
  copy ? { fetched: time(copy.at), reason: copy.reason } : null;

export function backendView({
  seen: _seen,
  since,
  state,
  total,
  down,
  connections,
  ...rest
}: BackendOfAll) {
  return {
    ...rest,
    state,
    since: time(since),
    total,
    down,
    connections: shownConnections(connections),
  };
}

export const shownConnections = ({
  open,
  idle,
  waiting,
  most,
}: BackendConnections): Connections => ({
  open,
  idle,
  waiting,
  limit: most,
});
