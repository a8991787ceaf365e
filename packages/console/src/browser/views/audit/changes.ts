import type { Entry } from '../../../admin-api.ts';
import { clockTime } from '../../format.ts';

/** A field that differs. `undefined`: it is not there. */
export interface FieldChange {
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

type Changed = Pick<Entry, 'target' | 'before' | 'after'>;
type Fields = Entry['before'];

/** The fields of an entry that differ before and after, without fields that were empty and stay empty. */
export function whatChanged(before: Fields, after: Fields): FieldChange[] {
  const [old, now] = [before ?? {}, after ?? {}];
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .map((name) => ({ name, before: textOf(old[name]), after: textOf(now[name]) }))
    .filter(({ before, after }) => before !== after);
}

/** One line about it, such as `limits: 60/minute → 30/minute, and 2 more`. */
export function inWords({ target, before, after }: Changed, changes: readonly FieldChange[]): string {
  if (changes.length === 0) return 'no visible fields';
  if (before === null) {
    const changed = changes.filter((change) => change.after !== target).slice(0, MOST_OF_NEW);
    return `new: ${changed.map(({ name, after: now }) => `${name} ${shortened(now ?? 'none')}`).join(', ')}`;
  }
  if (after === null) return 'gone';
  const [{ name, before: old, after: now }, ...rest] = changes as [FieldChange, ...FieldChange[]];
  const first = `${name}: ${shortened(old ?? 'none')} → ${shortened(now ?? 'none')}`;
  return rest.length === 0 ? first : `${first}, and ${rest.length} more`;
}

const LONGEST = 40;
/** Fields of something new that the line shows. */
const MOST_OF_NEW = 2;

const shortened = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);

/** Times as the admin API writes them. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'object' && Object.keys(value).length === 0) return undefined;
  if (Array.isArray(value)) return value.map((one) => textOf(one) ?? 'none').join(', ');
  if (typeof value === 'object') return JSON.stringify(value);
  return TIME.test(String(value)) ? clockTime(String(value)) : String(value);
}
