import { operationText } from '@storegate/admin-api/text';
import { isKeyId } from '../parts/data.ts';
import { linkTo } from '../routing.ts';
import { holdsSecret } from '../secrets.ts';
import { call } from './client.ts';

/** Something that a text is about, and the place that has more of it. */
export interface Match {
  readonly kind: 'Key' | 'Account' | 'Operation' | 'Request';
  readonly name: string;
  readonly detail: string | null;
  readonly link: string;
}

/** Of each kind; a list has all. */
const MOST = 6;
/** Of a text that is looked for. */
const SHORTEST = 2;
/** Of the begin of a request id, which names and operations may look like. */
const SHORTEST_ID = 4;
/** Refusals and failures among which the begin of an id is looked for. */
const RECENT = 200;
/** Milliseconds in which an operation must have been called to be found. */
const CALLED = 30 * 86_400_000;

const REQUEST_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Those that contain the text, each once. */
export function matching(
  names: readonly (string | undefined)[],
  text: string,
): string[] {
  const part = text.toLowerCase();
  return [...new Set(names)].filter(
    (name): name is string => name?.toLowerCase().includes(part) ?? false,
  );
}

/** Begin of the time in which operations are looked for: usage is summed up by hours of UTC. */
export const calledSince = (): string =>
  `${new Date(Date.now() - CALLED).toISOString().slice(0, 13)}:00:00Z`;

/** Everything that matches. Rejects as `call`. */
export async function matchesOf(
  text: string,
  signal: AbortSignal,
): Promise<Match[]> {
  if (text.length < SHORTEST || holdsSecret(text)) return [];
  if (REQUEST_ID.test(text)) return [requestMatch(text.toLowerCase())];
  if (isKeyId(text)) return [keyMatch({ id: text })];
  const found = await Promise.all([
    keysAndAccounts(text, signal),
    operations(text, signal),
    requests(text.toLowerCase(), signal),
  ]);
  return found.flat();
}

async function keysAndAccounts(
  find: string,
  signal: AbortSignal,
): Promise<Match[]> {
  const params = { find, limit: 50 };
  const { keys } = await call('listKeys', { params, signal });
  const accounts = matching(
    keys.map(({ account }) => account),
    find,
  );
  return [
    ...accounts.slice(0, MOST).map(accountMatch),
    ...keys.slice(0, MOST).map(keyMatch),
  ];
}

async function operations(text: string, signal: AbortSignal): Promise<Match[]> {
  const params = { from: calledSince(), by: 'operation', partial: true };
  const { rows } = await call('getUsageReport', { params, signal });
  const names = rows.map(({ operation }) => operation);
  return matching(names, text)
    .filter((name) => operationText(name) === name)
    .slice(0, MOST)
    .map((name) => ({
      kind: 'Operation',
      name,
      detail: null,
      link: linkTo('usage', '', { operation: name }),
    }));
}

async function requests(begin: string, signal: AbortSignal): Promise<Match[]> {
  if (begin.length < SHORTEST_ID || !/^[\da-f-]+$/.test(begin)) return [];
  const params = { limit: RECENT };
  const query = await call('listRequests', { params, signal });
  return query.requests
    .filter(({ id }) => id.startsWith(begin))
    .slice(0, MOST)
    .map(({ id, method, operation, status }) =>
      requestMatch(id, `${status} ${method} ${operationText(operation)}`),
    );
}

const accountMatch = (name: string): Match => ({
  kind: 'Account',
  name,
  detail: null,
  link: linkTo('keys', name),
});

const keyMatch = ({
  id,
  label = null,
  account,
}: {
  readonly id: string;
  readonly label?: string | null;
  readonly account?: string;
}): Match => ({
  kind: 'Key',
  name: id,
  detail: [label, account].filter(Boolean).join(', ') || null,
  link: linkTo('keys', id),
});

const requestMatch = (id: string, detail: string | null = null): Match => ({
  kind: 'Request',
  name: id,
  detail,
  link: linkTo('requests', id),
});
