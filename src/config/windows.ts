import { deepFreeze } from '../common/freeze.ts';
import { suggest } from '../common/suggest.ts';
import { KIND_NAMES } from '../limits/kinds.ts';
import type { Window } from '../limits/limits.ts';
import {
  entryFault,
  formatWindows,
  nameOfSpan,
  readShort,
  type ShortEntry,
  spanOf,
  toEntry,
  toWindows,
  type WindowEntry,
} from '../limits/notation.ts';
import { formatScope, isOwn } from '../limits/scopes.ts';
import { dotted, step } from './problems/pointers.ts';
import { ConfigError } from './problems/problems.ts';
import { quote } from './problems/quote.ts';
import { type SchemaError, schemaErrors, valueError } from './schema/errors.ts';

export {
  formatWindows,
  toEntry,
  toWindows,
  type WindowEntry,
  watching,
} from '../limits/notation.ts';

/**
 * `60/minute,1000/day` (`10/10s:sliding`), or a list of `{limit, per, kind?, zone?, anchor?}` from
 * JSON.
 *
 * @param source the name of the value in problems @returns windows, ordered by span, frozen
 * @throws {ConfigError} with every mistake
 */
export function parseWindows(
  value: unknown,
  source = 'limits',
): readonly Window[] {
  return windowsOf(
    typeof value === 'string' ? entriesIn(value, source) : value,
    source,
  );
}

/**
 * As `parseWindows` of the short form, but each window keeps what it does not name of the window of
 * `before` with the same span and API: kind, zone, anchor, `+watch` and `+overage`.
 */
export function parseChangedWindows(
  text: string,
  before: readonly Window[],
): readonly Window[] {
  const entries = entriesIn(text, 'limits').map((entry) => {
    const { kind, per, api } = entry;
    const old = before.find(
      (window) =>
        spanOf(per, knownKind(kind) ?? window.kind) === window.span &&
        toEntry(window).api === api,
    );
    return old === undefined ? entry : { ...unnamedIn(entry, old), ...entry };
  });
  return windowsOf(entries, 'limits');
}

/** What the entry does not name of the old window. */
function unnamedIn(entry: ShortEntry, old: Window): Partial<WindowEntry> {
  const { kind, zone, anchor, enforce, overage } = toEntry(old);
  const hasExcess = entry.enforce !== undefined || entry.overage !== undefined;
  return {
    ...(kind !== undefined && { kind }),
    ...((entry.kind ?? old.kind) === old.kind && {
      ...(zone !== undefined && { zone }),
      ...(anchor !== undefined && { anchor }),
    }),
    ...(!hasExcess && {
      ...(enforce !== undefined && { enforce }),
      ...(overage !== undefined && { overage }),
    }),
  };
}

const knownKind = (kind: string | undefined) =>
  KIND_NAMES.find((name) => name === kind);

function windowsOf(entries: unknown, source: string): readonly Window[] {
  refuse(schemaErrors(entries, 'plans', 'windows'), source);
  refuse(windowErrors(entries as readonly WindowEntry[], ''), source);
  return deepFreeze(toWindows(entries as readonly WindowEntry[]));
}

/**
 * For example `60/minute`, equal to the written form. The name of an operation or a tag follows:
 * `5/minute for login`.
 */
export function formatLimit(limit: Omit<Window, 'name'>): string {
  const named = { ...limit, name: nameOfSpan(limit) };
  if (isOwn(named)) return formatWindows([named]);
  const { scope, ...rest } = named;
  return `${formatWindows([rest])} ${formatScope(scope!)}`;
}

export function windowErrors(
  entries: readonly WindowEntry[],
  pointer: string,
): readonly SchemaError[] {
  return entries.flatMap((entry, index) => {
    const place = step(pointer, index);
    const fault = entryFault(entry);
    if (fault === null) return repeatedSpan(entries, index, place);
    const { field, expected } = fault;
    const near = field === 'zone' ? nearZone(entry.zone!) : '';
    const message = `must be ${expected}, is ${quote(entry[field])}${near}`;
    return [valueError(step(place, field), message)];
  });
}

function repeatedSpan(
  entries: readonly WindowEntry[],
  index: number,
  place: string,
) {
  const spans = entries.map(
    ({ per, kind, api }) => `${spanOf(per, kind)}@${api}`,
  );
  const same = spans.indexOf(spans[index]!);
  if (same === index) return [];
  const { per } = entries[index]!;
  const message = `must be another span than that of entry [${same}], is ${quote(per)}`;
  return [valueError(step(place, 'per'), message)];
}

function nearZone(zone: string): string {
  const near = suggest(zone, Intl.supportedValuesOf('timeZone'));
  return near === null ? '' : `; did you mean ${near}?`;
}

function entriesIn(text: string, source: string): readonly ShortEntry[] {
  const entries = readShort(text);
  const form = 'must look like 60/minute or 10/10s:sliding';
  const flaws = entries.flatMap((entry, index) =>
    typeof entry === 'string'
      ? [valueError(step('', index), `${form}, is ${quote(entry)}`)]
      : [],
  );
  refuse(flaws, source);
  return entries as readonly ShortEntry[];
}

function refuse(flaws: readonly SchemaError[], source: string): void {
  if (flaws.length === 0) return;
  throw new ConfigError(
    flaws.map(({ pointer, message }) => ({
      source,
      place: { position: null, path: dotted(pointer) },
      message,
    })),
  );
}
