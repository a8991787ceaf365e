import { deepFreeze } from '../common/freeze.ts';
import { DEFAULT_KIND } from '../limits/kinds.ts';
import type { Window } from '../limits/limits.ts';
import { dotted, step } from './problems/pointers.ts';
import { ConfigError } from './problems/problems.ts';
import { quote } from './problems/quote.ts';
import { type Flaw, schemaFlaws } from './schema/flaws.ts';
import { formatDuration, parseDuration } from './units.ts';

/** A window as people write it. */
export interface WindowEntry {
  readonly limit: number;
  /** `second`, `minute`, `hour`, `day`, or a duration. */
  readonly per: string;
  readonly kind?: Window['kind'];
}

const named: Readonly<Record<string, number>> = { second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000 };

/**
 * Reads the own limits of a key: the short form `60/minute,1000/day` (`10/10s:sliding`), or a list of
 * `{limit, per, kind?}` from JSON.
 *
 * @param source the name of the value in problems
 * @returns windows as in a plan: one to four, ordered by span, frozen
 * @throws {ConfigError} with every mistake
 */
export function parseWindows(value: unknown, source = 'limits'): readonly Window[] {
  const entries = typeof value === 'string' ? readShort(value, source) : value;
  refuse(schemaFlaws(entries, 'plans', 'windows'), source);
  refuse(windowFlaws(entries as readonly WindowEntry[], ''), source);
  return deepFreeze(toWindows(entries as readonly WindowEntry[]));
}

/** Writes windows in the short form; the reverse of `parseWindows`. */
export function formatWindows(windows: readonly Window[]): string {
  return windows.map(({ limit, name, kind }) => `${limit}/${name}${kind === DEFAULT_KIND ? '' : `:${kind}`}`).join(',');
}

/** Writes a limit whose window is known by its span alone, such as `60/minute`; equal to what people write for it. */
export function formatLimit({ kind, limit, span }: Pick<Window, 'kind' | 'limit' | 'span'>): string {
  const name = Object.keys(named).find((one) => named[one] === span) ?? formatDuration(span);
  return formatWindows([{ name, kind, limit, span }]);
}

/** The flaws between windows that are each valid by themselves. */
export function windowFlaws(entries: readonly WindowEntry[], pointer: string): readonly Flaw[] {
  return entries.flatMap(({ per }, index) => {
    const same = entries.findIndex((entry) => spanOf(entry.per) === spanOf(per));
    if (same === index) return [];
    const message = `must be another span than that of entry [${same}], is ${quote(per)}`;
    return [{ pointer: step(step(pointer, index), 'per'), at: 'value' as const, message }];
  });
}

/** The windows of checked entries, from the shortest span to the longest. */
export function toWindows(entries: readonly WindowEntry[]): Window[] {
  return entries
    .map(({ limit, per, kind = DEFAULT_KIND }) => ({ name: per, kind, limit, span: spanOf(per) }))
    .sort((a, b) => a.span - b.span);
}

function spanOf(per: string): number {
  const span = named[per] ?? parseDuration(per);
  if (span === null) throw new TypeError(`no span: ${per}`);
  return span;
}

function readShort(text: string, source: string): readonly unknown[] {
  const entries = text.split(',', 100).map((part) => /^\s*(\d{1,15})\/(\w+)(?::(\w+))?\s*$/.exec(part) ?? part);
  refuse(
    entries.flatMap((entry, index) => (typeof entry === 'string' ? [notShort(entry, index)] : [])),
    source,
  );
  return (entries as RegExpExecArray[]).map(([, limit, per, kind]) => ({
    limit: Number(limit),
    per,
    ...(kind !== undefined && { kind }),
  }));
}

function notShort(entry: string, index: number): Flaw {
  return {
    pointer: step('', index),
    at: 'value',
    message: `must look like 60/minute or 10/10s:sliding, is ${quote(entry)}`,
  };
}

function refuse(flaws: readonly Flaw[], source: string): void {
  if (flaws.length === 0) return;
  throw new ConfigError(
    flaws.map(({ pointer, message }) => ({ source, place: { position: null, path: dotted(pointer) }, message })),
  );
}
