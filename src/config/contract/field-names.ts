import { type FieldFlaw, shown } from '@storegate/openapi';
import { suggest } from '../../common/suggest.ts';
import { RATELIMIT, RATELIMIT_COST } from './limits.ts';
import { TIMEOUT } from './operations.ts';
import { REQUIRED_SCOPES } from './security.ts';
import { UPSTREAM } from './upstreams.ts';

export const UNCHECKED_BODY = 'x-storegate-unchecked-body';

const OF_OPERATION = ['operation'];

/** Where each field has an effect. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  [REQUIRED_SCOPES]: OF_OPERATION,
  [RATELIMIT]: ['operation', 'tag'],
  [RATELIMIT_COST]: OF_OPERATION,
  [UPSTREAM]: ['operation', 'pathItem', 'tag'],
  [UNCHECKED_BODY]: OF_OPERATION,
  [TIMEOUT]: OF_OPERATION,
  'x-max-body-bytes': OF_OPERATION,
  'x-report-only': OF_OPERATION,
  'x-deprecated-at': OF_OPERATION,
  'x-sunset': OF_OPERATION,
  'x-successor': OF_OPERATION,
  'x-stability-level': OF_OPERATION,
  'x-try-it': OF_OPERATION,
  'x-tagGroups': ['openapi'],
};

const NAMES: Readonly<Record<string, string>> = {
  operation: 'an operation',
  pathItem: 'a path',
  openapi: 'the document',
  tag: 'a tag in tags',
};

/**
 * With these objects an author may mean all operations, so a limit or a scope that has no effect is a
 * mistake.
 */
const WHOLE: ReadonlySet<string> = new Set([
  'openapi',
  'info',
  'paths',
  'pathItem',
  'tag',
]);
const STRICT: ReadonlySet<string> = new Set([
  REQUIRED_SCOPES,
  RATELIMIT,
  UPSTREAM,
]);

const OURS = Object.keys(PLACES);
const OWN = [UNCHECKED_BODY, UPSTREAM];
/** A name of another vendor must not be taken for a misspelt one. */
const MAX_TYPOS = 3;

/**
 * `kind` is that of the object with the field. `null` if it has an effect there, or belongs to
 * another vendor.
 */
export function judgeField(field: string, kind: string): FieldFlaw | null {
  const places = Object.hasOwn(PLACES, field) ? PLACES[field]! : null;
  if (places !== null)
    return places.includes(kind) ? null : misplaced(field, kind, places);
  const own = misspeltOwn(field);
  if (own !== null) return { message: own, severity: 'refuse' };
  if (kind !== 'operation' && !WHOLE.has(kind)) return null;
  const misspelt = similarTo(field);
  const meant = misspelt ?? beginningLike(field);
  if (meant === undefined) return null;
  // Without it, every key may call the operation.
  const severity = misspelt === REQUIRED_SCOPES ? 'refuse' : 'note';
  return {
    message: `${shown(field)} has no effect: did you mean ${meant}?`,
    severity,
  };
}

function misplaced(
  field: string,
  kind: string,
  places: readonly string[],
): FieldFlaw {
  const names = places.map((place) => NAMES[place]).join(', or on ');
  const severity =
    field === REQUIRED_SCOPES || (STRICT.has(field) && WHOLE.has(kind))
      ? 'refuse'
      : 'note';
  return { message: `has no effect here: it belongs on ${names}`, severity };
}

function misspeltOwn(field: string): string | null {
  const isOurs = /^x-storegate(?:-|$)/i.test(field);
  const meant =
    suggest(field, OWN, MAX_TYPOS) ?? (isOurs ? suggest(field, OWN) : null);
  if (meant === null && !isOurs) return null;
  const hint =
    meant === null
      ? `the extensions are ${OWN.join(' and ')}`
      : `did you mean ${meant}?`;
  return `${shown(field)} is not an extension of storegate: ${hint}`;
}

/** Letter case and separators do not count. */
const plain = (field: string): string =>
  field.toLowerCase().replace(/[^a-z0-9]/g, '');
const BY_PLAIN = new Map(OURS.map((field) => [plain(field), field]));
/** In characters, with the x. Shorter names are the beginning of many words. */
const LONG = 9;

function similarTo(field: string): string | undefined {
  const name = plain(field);
  const near = suggest(name, [...BY_PLAIN.keys()], name.length > LONG ? 2 : 1);
  return near === null ? undefined : BY_PLAIN.get(near);
}

/** For example `x-sunset-date` and `x-stability`. */
function beginningLike(field: string): string | undefined {
  const name = plain(field);
  const found = [...BY_PLAIN].find(
    ([field]) =>
      name.startsWith(field) || (name.length > LONG && field.startsWith(name)),
  );
  return found?.[1];
}
