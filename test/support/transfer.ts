import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { MovedUsage } from '../../src/ledger/moved-usage.ts';
import { partName, startOf, sumName } from '../../src/ledger/names.ts';
import { packRows, UsageTable } from '../../src/ledger/usage-table.ts';
import { NO_CONTENT, packValue } from '../../src/ledger/value.ts';
import { type Counters, newStrikeState, type StrikeState } from '../../src/limits/counters.ts';
import type { KeyRecord } from '../../src/records/keys/key.ts';
import type { AuditEntry } from '../../src/records/operators/audit-log.ts';
import { counterLine } from '../../src/records/transfer/counter-line.ts';
import {
  type Batch,
  noCounts,
  type RecordType,
  type Source,
  type Target,
  TYPES,
  type ValueOf,
} from '../../src/records/transfer/form.ts';
import { type MoveOptions, type MoveResult, moveState } from '../../src/records/transfer/move.ts';
import { HOUR, MINUTE, window } from './limits.ts';
import { draft, keyRecord } from './records.ts';

export type Whole = { readonly [T in RecordType]: readonly ValueOf[T][] };

/** A hash of the right form. */
export function hashOf(name: string): string {
  return `${name}-`.repeat(43).slice(0, 43);
}

export function idOf(number: number): string {
  return `key_${String(number).padStart(16, '0')}`;
}

export function movable(number: number, changes: Partial<KeyRecord> = {}): KeyRecord {
  return keyRecord({
    id: idOf(number),
    hash: hashOf(`secret${number}`),
    createdAt: 1_000 + number,
    ...changes,
  });
}

export function movableEntry(number: number, changes: Partial<AuditEntry> = {}): AuditEntry {
  return {
    number,
    ...draft({
      at: 1_000 * number,
      requestId: `request-${number}`,
      target: idOf(number),
      ...changes,
    }),
  };
}

/** Counters of an hour, opened at `opened`. */
export function hourly(
  used: number,
  opened: number,
  strikes: Partial<StrikeState> | null = null,
): Counters {
  const windows = [window(100, HOUR)];
  return {
    windows,
    cells: [opened, used],
    strikeState: strikes && { ...newStrikeState(), ...strikes },
  };
}

export function someState(now: number): Whole {
  const banned = {
    bannedUntil: now + HOUR,
    bannedSince: now - MINUTE,
    level: 2,
    cleanSince: now + HOUR,
  };
  return {
    key: [
      movable(1),
      movable(2, {
        version: 3,
        rotatedAt: 5,
        previous: { hash: hashOf('before2'), until: now + HOUR },
        imported: true,
      }),
      movable(3, {
        windows: [
          { name: '10s', kind: 'sliding', limit: 5, span: 10_000 },
          { name: '10s', kind: 'sliding', limit: 1, span: 10_000, scope: '@notes' },
        ],
        apis: ['notes', 'files'],
        metadata: { team: 'ä' },
      }),
    ],
    token: [{ name: 'ci', hash: hashOf('token'), role: 'operate', createdAt: 7 }],
    audit: [
      movableEntry(4),
      movableEntry(5, { before: { a: [1] }, after: null, reason: 'why “5”' }),
      movableEntry(6),
    ],
    ban: [
      movableEntry(2, { action: 'bans.start', actor: 'storegate' }),
      movableEntry(3, { action: 'bans.lift', reason: 'a call' }),
    ],
    counters: [
      counterLine(`key:${idOf(1)}`, hourly(7, now - MINUTE)),
      counterLine(
        `key:${idOf(2)}`,
        hourly(9, now - MINUTE, { ...banned, bannedFor: window(100, HOUR) }),
      ),
      counterLine('account:team:acme', {
        windows: [window(5, HOUR, 'sliding')],
        cells: slots(now),
        strikeState: null,
      }),
    ],
    use: [
      { id: idOf(1), at: now - 5 },
      { id: idOf(2), at: now - 6 },
    ],
    usage: [hourOf(now), partOf(now)],
  };
}

/** The hour before `now`, without requests. */
function hourOf(now: number): MovedUsage {
  const start = startOf(now, HOUR) - HOUR;
  const source = { since: start, until: start + MINUTE, open: 3, ended: true, dropped: 0, most: 3 };
  const head = { start, span: HOUR, policies: 0, sources: { 'host:1#a': source } };
  const bytes = packValue(head, NO_CONTENT);
  return { name: sumName('h', start, bytes), bytes: bytes.toString('base64') };
}

/** Of the minute of `now`, with a request of a key or with none. */
export function partOf(now: number, key: string | null = null): MovedUsage {
  const minute = startOf(now, MINUTE);
  const process = 'host:1#b';
  const source = { since: minute, until: now, open: 1, ended: true, dropped: 0, most: 3 };
  const head = { start: minute, span: MINUTE, policies: 0, sources: { [process]: source } };
  const bytes = packValue(head, { ...NO_CONTENT, usage: key === null ? [] : [rowsOf(key)] });
  const name = partName({ minute, number: 1, part: 0, process });
  return { name, bytes: bytes.toString('base64') };
}

function rowsOf(key: string): Uint8Array {
  const table = new UsageTable();
  const { names } = table;
  const outcome = { status: 200, code: null, verdict: 'admitted', deprecated: false };
  const client = names.client({ key, account: 'acme', plan: 'free' });
  table.count(table.row(client, names.operation('list'), names.outcome(outcome)), 5, false, 1);
  return packRows(table);
}

/** Cells of a sliding hour in which four units were used. */
function slots(now: number): number[] {
  const newest = Math.floor(now / (HOUR / 20));
  const cells = [newest, ...new Array<number>(21).fill(0)];
  cells[1 + (newest % 21)] = 3;
  cells[1 + ((newest - 1) % 21)] = 1;
  return cells;
}

/** `isChecked`: its records are used as they are. */
export function sourceOf(given: Partial<Whole>, { isChecked = false } = {}): Source {
  const whole: Whole = { ...nothing(), ...given };
  return {
    name: 'a test',
    kind: 'embedded',
    isChecked,
    isStopped: true,
    counts() {
      const counts = noCounts();
      for (const type of TYPES) counts[type] = whole[type].length;
      return counts;
    },
    async *read() {
      for (const type of TYPES) yield { type, values: whole[type] } as Batch;
    },
    close() {},
  };
}

export async function readWhole(source: Source): Promise<Whole> {
  const whole: { [T in RecordType]: unknown[] } = nothing();
  for await (const { type, values } of source.read()) whole[type].push(...values);
  await source.close();
  const byName = (a: unknown, b: unknown) => (nameOf(a) < nameOf(b) ? -1 : 1);
  for (const type of ['key', 'token', 'counters', 'use', 'usage'] as const)
    whole[type].sort(byName);
  return whole as unknown as Whole;
}

const nothing = () => ({
  key: [],
  token: [],
  audit: [],
  ban: [],
  counters: [],
  use: [],
  usage: [],
});

function nameOf(value: unknown): string {
  const { id, name, subject } = value as { id?: string; name?: string; subject?: string };
  return id ?? name ?? subject ?? '';
}

export async function moveAll(
  source: Source,
  target: Target,
  options: Partial<MoveOptions> = {},
): Promise<MoveResult> {
  try {
    return await moveState(source, target, {
      onBatch() {},
      by: { at: Date.now(), actor: 'cli:test', requestId: 'the-move' },
      dryRun: false,
      exports: false,
      ...options,
    });
  } finally {
    await source.close();
    await target.close();
  }
}

export const WITH_CLOCK = { clock: Date.now, dryRun: false };

/** `remove` after use. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'storegate-moving-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
