import { isObject, LAST_MOMENT } from '../../common/shapes.ts';
import { MINUTE } from '../../common/time.ts';
import { partIn, SPANS, sumIn } from '../../ledger/names.ts';
import { createTrafficTable, mergeTraffic } from '../../ledger/traffic.ts';
import { unpackRows } from '../../ledger/usage-table.ts';
import { UsesTables } from '../../ledger/uses.ts';
import { valueIn } from '../../ledger/value.ts';
import {
  fields,
  flag,
  integer,
  list,
  moment,
  orNull,
  text,
} from './field-checks.ts';

const RECORD = fields({
  name: text(400),
  bytes: text(Number.MAX_SAFE_INTEGER),
});

const SOURCE = fields({
  since: moment,
  until: moment,
  open: integer(0),
  ended: flag,
  dropped: integer(0),
  most: integer(0),
});
const HEAD = fields({
  start: moment,
  span: integer(1),
  policies: integer(0),
  sources: (value) => (isObject(value) ? null : ' must be an object'),
});
/** Ends with the part that makes it unique. */
const PROCESS = /^.{0,300}#[\w-]{0,64}$/s;

const NAME = orNull(text(200));
const NAMES = fields({
  clients: list(
    Number.MAX_SAFE_INTEGER,
    fields({ key: NAME, account: NAME, plan: NAME }),
  ),
  operations: list(Number.MAX_SAFE_INTEGER, text(2_000)),
  outcomes: list(
    Number.MAX_SAFE_INTEGER,
    fields({
      status: integer(0, 999),
      code: NAME,
      verdict: NAME,
      deprecated: flag,
    }),
  ),
});

/** The content that the name of a part or a sum states. */
interface Place {
  readonly start: number;
  readonly span: number;
}

/** The error in a part or a sum that another store or a file has; `null`: valid. */
export function usageFault(value: unknown): string | null {
  const fault = RECORD(value);
  if (fault !== null) return fault;
  const { name, bytes } = value as Readonly<Record<'name' | 'bytes', string>>;
  const place = placeOf(name);
  if (place === null) return '.name must be that of a part or a sum';
  const stored = Buffer.from(bytes, 'base64');
  if (stored.length === 0 || stored.toString('base64') !== bytes)
    return '.bytes must be Base64';
  try {
    const wrong = contentFault(stored, place);
    return wrong === null ? null : `.bytes ${wrong}`;
  } catch (error) {
    // Bytes with a valid checksum may still have any content, down to its last number.
    return `.bytes are damaged: ${(error as Error).message}`;
  }
}

function placeOf(name: string): Place | null {
  const sum = sumIn(name);
  const start = sum?.start ?? partIn(name)?.minute;
  if (start === undefined || start > LAST_MOMENT) return null;
  return { start, span: sum === null ? MINUTE : SPANS[sum.kind] };
}

/** Throws errors of its parts. */
function contentFault(bytes: Uint8Array, place: Place): string | null {
  const { read, usage, ...head } = valueIn(bytes);
  const wrong = headFault(head, place);
  if (wrong !== null) return wrong;
  mergeTraffic(createTrafficTable(), read('traffic'));
  new UsesTables().add(read('uses'));
  for (const rows of usage()) {
    const fault = rowsFault(rows);
    if (fault !== null) return fault;
  }
  return null;
}

function headFault(head: unknown, { start, span }: Place): string | null {
  const wrong = HEAD(head);
  if (wrong !== null) return `have a head: ${wrong.replace(/^[.: ]+/, '')}`;
  const found = head as { start: number; span: number; sources: object };
  if (found.start !== start || found.span !== span)
    return 'have another time than the name';
  for (const [process, source] of Object.entries(found.sources)) {
    if (!PROCESS.test(process)) return 'have a process without a unique name';
    const fault = SOURCE(source);
    if (fault !== null) return `have a source whose${fault.replace('.', ' ')}`;
  }
  return null;
}

function rowsFault(bytes: Uint8Array): string | null {
  let wrong: string | null = null;
  unpackRows(bytes, (names) => {
    wrong = NAMES(names);
    if (wrong !== null) wrong = `have names: ${wrong.replace(/^[.: ]+/, '')}`;
    return ({ client, operation, outcome }) => {
      const isNamed =
        client < names.clients.length &&
        operation < names.operations.length &&
        outcome < names.outcomes.length;
      if (!isNamed) wrong ??= 'have a row without names';
    };
  });
  return wrong;
}
