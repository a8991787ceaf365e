import { ROLES } from '@storegate/admin-api';
import { ExpectedError } from '../../common/expected-error.ts';
import { MAX_SCOPE_LENGTH, MAX_SCOPES } from '../../common/scopes.ts';
import { isObject, LAST_MOMENT } from '../../common/shapes.ts';
import { parseWindows, toEntry } from '../../config/windows.ts';
import { eachWindow } from '../../limits/counters.ts';
import { meterOf, WINDOW_KINDS, windowId } from '../../limits/kinds.ts';
import { isScope } from '../../limits/scopes.ts';
import { formErrors } from '../keys/draft.ts';
import { hashesOf, type KeyRecord } from '../keys/key.ts';
import { type CounterLine, countersIn } from './counter-line.ts';
import {
  type Check,
  fields,
  flag,
  integer,
  list,
  moment,
  oneOf,
  orNull,
  text,
} from './field-checks.ts';
import { createFingerprints } from './fingerprints.ts';
import type { RecordType, ValueOf } from './form.ts';
import { usageFault } from './usage-check.ts';

const SUBJECT =
  /^(key:key_[0-9A-Za-z]{1,64}|account:[a-z][a-z0-9-]{0,31}:[A-Za-z0-9][A-Za-z0-9._@-]{0,63}|address:[\w.:/-]{1,64})$/;
/**
 * Maximum windows with counters of one subject: those of a plan and a contract, and of others
 * during a merge.
 */
const MAX_WINDOWS = 64;
const MAX_STRIKES = 1_000_000;
const YEAR = 366 * 86_400_000;

const id = text(
  68,
  /^key_[0-9A-Za-z]{1,64}$/,
  'the id of a key, such as key_7Fh2…',
);
const digest = text(
  43,
  /^[A-Za-z0-9_-]{43}$/,
  'a SHA-256 in 43 characters of base64url',
);
const KINDS = oneOf(Object.keys(WINDOW_KINDS));

const WINDOW = fields(
  {
    name: text(20),
    kind: KINDS,
    limit: integer(1),
    span: integer(1),
    zone: text(64),
    anchor: integer(1, 31),
    excess: oneOf(['watch', 'overage']),
    scope: text(33, /^@[a-z][a-z0-9-]*$/, 'that of an API, such as @notes'),
  },
  ['zone', 'anchor', 'excess', 'scope'],
);

const KEY = fields(
  {
    id,
    version: integer(1),
    hash: digest,
    account: text(64),
    plan: text(32, /^[a-z][a-z0-9-]{0,31}$/, 'the name of a plan'),
    label: orNull(text(200)),
    windows: orNull(list(16, WINDOW)),
    addresses: orNull(list(100, text(64))),
    scopes: list(MAX_SCOPES, text(MAX_SCOPE_LENGTH)),
    metadata: strings,
    createdAt: moment,
    expiresAt: orNull(moment),
    disabledAt: orNull(moment),
    revokedAt: orNull(moment),
    rotatedAt: orNull(moment),
    previous: orNull(fields({ hash: digest, until: moment })),
    imported: flag,
    apis: orNull(
      list(100, text(32, /^[a-z][a-z0-9-]*$/, 'the name of an API')),
    ),
  },
  ['apis'],
);

const TOKEN = fields({
  name: text(40, /^[a-z][a-z0-9-]{0,39}$/, 'small letters, digits and dashes'),
  hash: digest,
  role: oneOf(ROLES),
  createdAt: moment,
});

/** Entries without a reason omit the field. */
const AUDIT = fields(
  {
    number: integer(1),
    at: moment,
    actor: text(200),
    action: text(200),
    target: text(1_000),
    before: () => null,
    after: () => null,
    requestId: text(200),
    reason: text(1_000),
  },
  ['reason'],
);

const scope: Check = (value) =>
  typeof value === 'string' && isScope(value)
    ? null
    : ' must be the scope of an operation or a tag';
const LIMIT = { kind: KINDS, limit: integer(1), span: integer(1, YEAR), scope };
const STRIKE_STATE = fields({
  refused: fields({ at: moment, until: moment, refusals: integer(0) }),
  strikes: list(MAX_STRIKES, moment),
  bannedUntil: moment,
  bannedSince: moment,
  bannedFor: orNull(fields(LIMIT, ['scope'])),
  level: integer(0, 1_000_000),
  cleanSince: moment,
  forgottenAt: moment,
});
const COUNTERS = fields({
  subject: text(
    140,
    SUBJECT,
    'key:<id>, account:<plan>:<account> or address:<address>',
  ),
  windows: list(MAX_WINDOWS, fields(LIMIT, ['limit', 'scope'])),
  cells: list(MAX_WINDOWS * 32, integer(0)),
  strikeState: orNull(STRIKE_STATE),
});

const CHECKS: Readonly<Record<RecordType, Check>> = {
  key: (value) => KEY(value) ?? traits(value as KeyRecord),
  token: TOKEN,
  audit: AUDIT,
  ban: AUDIT,
  counters: (value) => COUNTERS(value) ?? counters(value as CounterLine),
  use: fields({ id, at: moment }),
  usage: usageFault,
};

/** Checks records one after the other. */
export function createRecordChecker() {
  const names = createFingerprints();
  const lastNumber = { audit: 0, ban: 0 };

  function orderFault(
    type: 'audit' | 'ban',
    { number }: ValueOf['audit'],
  ): string | null {
    if (number <= lastNumber[type])
      return `the numbers of ${type} entries must rise`;
    lastNumber[type] = number;
    return null;
  }

  return {
    /**
     * The error in a record: types, ranges, formats of ids and hashes, consistency, or a conflict
     * with an earlier record; `null`: valid.
     */
    faultIn<T extends RecordType>(type: T, value: ValueOf[T]): string | null {
      const fault = CHECKS[type](value);
      if (fault !== null) return `${type}: ${fault.replace(/^[.: ]+/, '')}`;
      if (type === 'audit' || type === 'ban')
        return orderFault(type, value as ValueOf['audit']);
      if (!names.add(`${type} ${nameOf(value)}`))
        return `the same ${type} came before`;
      const { hash = null, previous = null } = value as Partial<KeyRecord>;
      const hashes = hash === null ? [] : hashesOf({ hash, previous });
      return hashes.every((one) => names.add(`secret of ${type} ${one}`))
        ? null
        : `another ${type} before it has the same secret`;
    },
  };
}

/** Unique among records of the same type. The record may have any form. */
export function nameOf(value: object): string {
  const { id, name, subject, number } = value as Readonly<
    Record<string, unknown>
  >;
  return String(id ?? name ?? subject ?? number);
}

function strings(value: unknown): string | null {
  if (!isObject(value)) return ' must be an object';
  const isText = text(500);
  return Object.values(value).every((one) => isText(one) === null)
    ? null
    : ' must hold text of at most 500 characters';
}

/** Records must pass the same checks as operator input. */
function traits(key: KeyRecord): string | null {
  const { windows, hash, previous } = key;
  if (previous?.hash === hash)
    return '.previous.hash must be another than that of the key';
  const [flaw] = formErrors(key);
  if (flaw) return `: ${flaw.message}`;
  try {
    if (windows === null) return null;
    const expected = parseWindows(windows.map(toEntry), 'windows');
    const isSame = expected.every(
      ({ span, limit }, i) =>
        span === windows[i]!.span && limit === windows[i]!.limit,
    );
    return isSame
      ? null
      : '.windows have spans that are not those of their names, or are not in order';
  } catch (error) {
    if (error instanceof ExpectedError) return `: ${error.message}`;
    throw error;
  }
}

function counters({ windows, cells, strikeState }: CounterLine): string | null {
  const ids = new Set(windows.map(windowId));
  if (windows.length === 0 || ids.size < windows.length)
    return '.windows must be different ones, and at least one';
  if (
    windows.some(
      ({ limit }) => (limit === undefined) !== (strikeState === null),
    )
  )
    return '.windows must have limits if strikeState is set, and only then';
  const { windows: whole } = countersIn({ windows, cells, strikeState });
  const size = whole.reduce((sum, window) => sum + meterOf(window).size, 0);
  if (cells.length !== size)
    return `.cells must be ${size} numbers for these windows`;
  let wrong: string | null = null;
  eachWindow(whole, (window, at, meter) => {
    if (meter.staleAt(cells, at, window) > LAST_MOMENT)
      wrong = '.cells have a time that no clock shows';
  });
  return wrong;
}
