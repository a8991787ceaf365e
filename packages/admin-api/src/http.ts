import type { Query, Sent } from './client.ts';
import { FLAGS, NUMBERS } from './generated/operations.ts';
import type { Error as ErrorBody } from './generated/types.ts';

/** UTF-8, percent-encoded. */
export const REASON_HEADER = 'X-Storegate-Reason';

/** A `cli:` name, percent-encoded. */
export const SHELL_USER_HEADER = 'X-Storegate-User';

/** In every response of the admin listener: the command line reads only responses that have it. */
export const ADMIN_HEADER = 'X-Storegate';

export const IDEMPOTENCY_HEADER = 'Idempotency-Key';

/** An invalid field of a call. */
export type FieldFault = Pick<
  NonNullable<ErrorBody['details']>[number],
  'pointer' | 'message'
>;

export function headersOf({
  body,
  idempotencyKey,
  reason,
}: Sent): Record<string, string> {
  return {
    ...(body !== undefined && { 'Content-Type': 'application/json' }),
    ...(idempotencyKey !== undefined && {
      [IDEMPOTENCY_HEADER]: idempotencyKey,
    }),
    ...(reason && { [REASON_HEADER]: encodeURIComponent(reason) }),
  };
}

/** Without the question mark, and without undefined values. */
export function queryText(query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) search.set(name, String(value));
  return search.toString();
}

/** The parameters in a query that the contract has accepted. */
export function readQuery(text: string): Query {
  const pairs = [...new URLSearchParams(text)];
  return Object.fromEntries(
    pairs.map(([name, value]) => [name, parsed(name, value)]),
  );
}

function parsed(name: string, text: string): string | number | boolean {
  if (NUMBERS.has(name)) return Number(text);
  return FLAGS.has(name) ? text === 'true' : text;
}
