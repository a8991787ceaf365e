import { createHash } from 'node:crypto';
import { type Counters, newStrikeState, type StrikeState } from '../../src/limits/counters.ts';
import type { KeyRecord } from '../../src/records/keys/key.ts';
import { type CounterLine, counterLine } from '../../src/records/transfer/counter-line.ts';
import { fileTarget } from '../../src/records/transfer/file-writer.ts';
import { BATCH } from '../../src/records/transfer/form.ts';

const HOUR = 3_600_000;
const WINDOWS = [
  { name: 'minute', kind: 'fixed', limit: 60, span: 60_000 },
  { name: 'day', kind: 'fixed', limit: 1_000, span: 24 * HOUR },
] as const;

/** Includes ten thousand audit entries. */
export async function writeState(path: string, keys: number): Promise<void> {
  const now = Date.now();
  const file = fileTarget(path, {
    from: 'embedded',
    storegate: '0.0.0',
    at: new Date(now).toISOString(),
  });
  inBatches(keys, (numbers) =>
    file.add({ type: 'key', values: numbers.map((n) => keyOf(n, now)) }),
  );
  inBatches(10_000, (numbers) =>
    file.add({ type: 'audit', values: numbers.map((n) => entryOf(n, now)) }),
  );
  inBatches(keys, (numbers) =>
    file.add({ type: 'counters', values: numbers.map((n) => countersOf(n, now)) }),
  );
  inBatches(keys, (numbers) =>
    file.add({ type: 'use', values: numbers.map((n) => ({ id: idOf(n), at: now - n })) }),
  );
  await file.finish(entryOf(10_000, now), { isCopy: true });
}

function inBatches(count: number, take: (numbers: number[]) => void): void {
  for (let from = 0; from < count; from += BATCH)
    take(Array.from({ length: Math.min(BATCH, count - from) }, (_, i) => from + i));
}

/** As random as real ids, and the same in every run. */
const digest = (text: string) => createHash('sha256').update(text).digest('base64url');
const idOf = (n: number) => `key_${digest(`id ${n}`).replace(/[-_]/g, 'x').slice(0, 16)}`;

function keyOf(n: number, now: number): KeyRecord {
  return {
    id: idOf(n),
    version: 1,
    hash: digest(`secret ${n}`),
    account: `account-${n % 10_000}`,
    plan: 'free',
    label: `key number ${n}`,
    windows: null,
    addresses: null,
    scopes: [],
    metadata: {},
    createdAt: now - n,
    expiresAt: null,
    disabledAt: null,
    revokedAt: null,
    rotatedAt: null,
    previous: null,
    imported: false,
  };
}

function entryOf(n: number, now: number) {
  const after = { id: idOf(n), account: `account-${n % 10_000}`, plan: 'free' };
  const said = {
    actor: 'cli:bench',
    action: 'keys.create',
    target: idOf(n),
    before: null,
    after,
    requestId: `r${n}`,
  };
  return { number: n + 1, at: now - 10_000 + n, ...said };
}

function countersOf(n: number, now: number): CounterLine {
  const counters: Counters = {
    windows: WINDOWS,
    cells: [now - (n % 60_000), n % 60, now - HOUR, n % 1_000],
    strikeState: null,
  };
  if (n % 100 === 0) counters.strikeState = strikeStateOf(n, now);
  return counterLine(`key:${idOf(n)}`, counters);
}

function strikeStateOf(n: number, now: number): StrikeState {
  const strikes = {
    ...newStrikeState(),
    refused: { at: now - 5_000, until: now + 1_000, refusals: 201 },
    strikes: [now - 4_000],
    cleanSince: now,
    forgottenAt: now + 24 * HOUR,
  };
  if (n % 1_000 > 0) return strikes;
  const bannedUntil = now + 24 * HOUR;
  return {
    ...strikes,
    bannedUntil,
    bannedSince: now,
    bannedFor: WINDOWS[0],
    level: 1,
    strikes: [],
    cleanSince: bannedUntil,
  };
}
