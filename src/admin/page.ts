import { AdminError } from './admin-error.ts';

const DEFAULT = 100;

export function limitOf(query: Readonly<Record<string, string>>): number {
  return query.limit === undefined ? DEFAULT : Number(query.limit);
}

/** `after`: the cursor of the next page; `null`: the last page. */
export function page<T>(
  all: readonly T[],
  query: Readonly<Record<string, string>>,
  nameOf: (item: T) => string,
): { items: readonly T[]; next: string | null } {
  const { after } = query;
  const start = after === undefined ? 0 : all.findIndex((item) => nameOf(item) === after) + 1;
  if (after !== undefined && start === 0) {
    throw new AdminError('invalid_value', '`after` names nothing in this list: use the `next` of the page before.');
  }
  const left = all.slice(start);
  const items = left.slice(0, limitOf(query));
  return { items, next: items.length < left.length ? nameOf(items.at(-1)!) : null };
}
