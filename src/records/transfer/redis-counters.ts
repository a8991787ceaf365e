import {
  type Counters,
  endWaits,
  newCounters,
  newStrikeState,
  type StrikeState,
} from '../../limits/counters.ts';
import { kindWithCode, WINDOW_KINDS } from '../../limits/kinds.ts';
import type { Window } from '../../limits/limits.ts';
import { idOf, numbersOf, packLimits } from '../../state/redis/packing.ts';
import { windowOf } from './counter-line.ts';

/** The format is in lua/rules/plain.lua. `null`: missing; `foreign`: other data. */
export function parseStoredCounters(
  reply: unknown,
): Counters | null | 'foreign' {
  if (reply === '') return null;
  const lines = String(reply).split('\n');
  if (lines.length !== 5) return 'foreign';
  const [ids = '', cells = '', limits = '', strikes = '', ban = ''] = lines;
  const strikeState =
    strikes === '' ? null : readStrikeState(numbersIn(strikes), ban);
  const refusedUnder = windowsIn(limits);
  const windows = ids === '' ? refusedUnder : idWindows(ids);
  if (windows === null || windows.length === 0) return 'foreign';
  const counted = ids === '' ? newCounters(windows).cells : numbersIn(cells);
  if (strikeState === null) return { windows, cells: counted, strikeState };
  const isSame =
    refusedUnder !== null && idsOf(refusedUnder) === idsOf(windows);
  // Retry times for other limits become invalid with the next request.
  if (!isSame) endWaits(strikeState);
  return {
    windows: isSame ? refusedUnder : windows,
    cells: counted,
    strikeState,
  };
}

/** Arguments 2 to 6 of lua/put-n.lua. */
export function formatCounters({
  windows,
  cells,
  strikeState,
}: Counters): string[] {
  const [ids, limits] = packLimits({ windows, escalation: null });
  if (strikeState === null) return [ids, JSON.stringify(cells), '', '', ''];
  const {
    refused,
    bannedSince,
    bannedUntil,
    bannedFor,
    level,
    cleanSince,
    forgottenAt,
    strikes,
  } = strikeState;
  const wait = [refused.at, refused.until, refused.refusals];
  const numbers = [
    ...wait,
    bannedSince,
    bannedUntil,
    level,
    cleanSince,
    forgottenAt,
    ...strikes,
  ];
  const limit = bannedFor ? JSON.stringify(numbersOf(bannedFor)) : '';
  return [ids, JSON.stringify(cells), limits, JSON.stringify(numbers), limit];
}

function readStrikeState(numbers: readonly number[], ban: string): StrikeState {
  const [
    at = 0,
    until = 0,
    refusals = 0,
    bannedSince = 0,
    bannedUntil = 0,
    ...rest
  ] = numbers;
  const [level = 0, cleanSince = 0, forgottenAt = 0, ...strikes] = rest;
  return {
    ...newStrikeState(),
    refused: { at, until, refusals },
    strikes,
    bannedSince,
    bannedUntil,
    bannedFor: readLimit(ban),
    level,
    cleanSince,
    forgottenAt,
  };
}

/** `null`: an operator's ban, no ban, or a kind from a newer version. */
function readLimit(text: string): Window | null {
  const [code, span = 0, limit = 0] = numbersIn(text);
  const kind = code === undefined ? null : kindWithCode(code);
  return kind && windowOf({ kind, span, limit, scope: text.split(',')[3] });
}

/** For example `60000,s3600000,60000@login`; `null`: a kind from a newer version. */
function idWindows(ids: string): Window[] | null {
  const windows = ids.split(',').map((id) => {
    const [, mark = '', span, scope] =
      /^([a-z]?)(\d+)(?:@(.+))?$/.exec(id) ?? [];
    const kind = Object.entries(WINDOW_KINDS).find(
      ([, one]) => one.mark === mark,
    )?.[0] as Window['kind'] | undefined;
    if (!kind || span === undefined) return null;
    return windowOf({ kind, span: Number(span), limit: 1, scope });
  });
  return windows.every((window) => window !== null) ? windows : null;
}

/** For example `[0,60000,60,0,60000,5,"login"]`; `null`: not valid. */
function windowsIn(limits: string): Window[] | null {
  if (limits === '') return null;
  const values = JSON.parse(limits) as (number | string)[];
  const windows: Window[] = [];
  for (let i = 0; i < values.length; ) {
    const [code, span, limit, scope] = values.slice(i, i + 4) as [
      number,
      number,
      number,
      number | string | undefined,
    ];
    // Ten and more: windows that do not refuse. Counters are the same.
    const kind = kindWithCode(code % 10);
    if (kind === null) return null;
    const isScoped = typeof scope === 'string';
    windows.push(
      windowOf({ kind, span, limit, scope: isScoped ? scope : undefined }),
    );
    i += isScoped ? 4 : 3;
  }
  return windows;
}

function idsOf(windows: readonly Window[]): string {
  return windows.map(idOf).join(',');
}

function numbersIn(text: string): number[] {
  return text === '' ? [] : text.split(',').map(Number);
}
