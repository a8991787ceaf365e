import { listed, oneByte } from '@storegate/http1';
import { foldedName, withoutFields } from '../../common/field-list.ts';
import {
  DEFAULT_KEY_HEADERS,
  type KeyHeaders,
} from '../../common/key-headers.ts';
import { HOP_BY_HOP, NOT_FORWARDED } from '../../common/reserved-fields.ts';
import type { HeaderRules } from '../../config/config.ts';
import type { Via } from './via.ts';

/** The contract stage reads them. */
const CHECKED = ['content-encoding', 'content-type', 'cookie'];

const NOT_RETURNED = new Set([
  ...HOP_BY_HOP,
  'ratelimit',
  'ratelimit-policy',
  'x-request-id',
]);

/**
 * A shared cache would return one client's response to another (RFC 9111 section 3.5 protects only
 * Authorization).
 */
const NOT_SHARED = {
  'cache-control': 'private',
  vary: 'X-API-Key, Authorization',
} as const;

/** The other side chooses spellings, so memory is bounded. */
const MOST_SPELLINGS = 2_000;
const LONGEST_SPELLING = 64;

function remembering<Known>(
  learn: (name: string) => Known,
): (spelt: string) => Known {
  const learnt = new Map<string, Known>();
  return (spelt) => {
    const before = learnt.get(spelt);
    if (before !== undefined) return before;
    // A copy: a slice would retain the whole head.
    const copy = oneByte(spelt);
    const cached = learn(copy.toLowerCase());
    if (copy.length > LONGEST_SPELLING) return cached;
    if (learnt.size >= MOST_SPELLINGS) learnt.clear();
    learnt.set(copy, cached);
    return cached;
  };
}

export interface FieldNamesOptions {
  /** In lower case; a final `*` matches any ending. */
  readonly strip: readonly string[];
  readonly own?: readonly string[];
  /** Names that the contract checks, which pass in this spelling alone. */
  readonly checked?: readonly string[];
  readonly keyHeaders?: KeyHeaders;
  readonly hide?: boolean;
}

export type FieldNames = ReturnType<typeof createFieldNames>;

export function createFieldNames({
  strip,
  own = [],
  checked = [],
  keyHeaders = DEFAULT_KEY_HEADERS,
  hide = true,
}: FieldNamesOptions) {
  const { headers, bearer } = keyHeaders;
  const keys = new Set(headers.map((name) => name.toLowerCase()));
  const isStar = (name: string) => name.endsWith('*');
  const stripped: ReadonlySet<string> = new Set([
    ...NOT_FORWARDED,
    ...[
      ...strip.filter((name) => !isStar(name)),
      ...own,
      ...(hide ? headers : []),
    ].map(foldedName),
  ]);
  const stars = strip.filter(isStar).map((name) => name.slice(0, -1));
  const prefixes = ['x-storegate-', 'x-forwarded-', ...stars.map(foldedName)];
  const spellings = new Set(
    [...CHECKED, ...checked].map((name) => name.toLowerCase()),
  );
  const judged = new Set([...spellings].map(foldedName));
  const of = remembering((name) => {
    const meant = foldedName(name);
    const isKey = keys.has(name);
    const isStripped =
      stripped.has(meant) ||
      prefixes.some((prefix) => meant.startsWith(prefix)) ||
      (judged.has(meant) && !spellings.has(name));
    return {
      name,
      forwarded: !isStripped || (!hide && isKey),
      isKey,
      isChecked: spellings.has(name),
    };
  });
  return { of, bearer, hide };
}

export type ReturnedNames = ReturnType<typeof createReturnedNames>;

/** In lower case: what a rule sets or removes passes from neither side. */
export const namesIn = ({ set, remove }: HeaderRules): string[] =>
  [...Object.keys(set), ...remove].map((name) => name.toLowerCase());

const NO_RULES: HeaderRules = { set: {}, remove: [] };

interface ReturnedNamesOptions {
  /** Whether the backend's CORS fields are returned. */
  readonly cors: boolean;
  readonly via: Via;
  readonly rules?: HeaderRules;
}

export function createReturnedNames({
  cors,
  via,
  rules = NO_RULES,
}: ReturnedNamesOptions) {
  const ruled = new Set(namesIn(rules));
  const prefixes = cors
    ? ['x-ratelimit-']
    : ['x-ratelimit-', 'access-control-'];
  const isReturned = (name: string) =>
    !NOT_RETURNED.has(name) &&
    !ruled.has(name) &&
    !prefixes.some((prefix) => name.startsWith(prefix));
  const of = remembering((name) => ({ name, returned: isReturned(name) }));
  const notShared = withoutFields(
    Object.entries(NOT_SHARED).flat(),
    namesIn({ ...rules, remove: [] }),
  ).map(oneByte);
  return { of, via: via.values, notShared };
}

/** RFC 9110 section 7.6.1. */
export function optionsOf(connection: string): string[] {
  return listed(connection.toLowerCase()).filter((option) => option !== '');
}
