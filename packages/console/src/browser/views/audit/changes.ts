import type { Entry } from '@storegate/admin-api';
import { limitsText } from '@storegate/admin-api/text';
import { clockTime } from '../../format.ts';

/** A field that differs. `undefined`: it is not there. */
export interface FieldChange {
  readonly name: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/**
 * The fields of an entry that differ before and after, without fields that were empty and stay
 * empty.
 */
export function whatChanged({
  before,
  after,
}: Pick<Entry, 'before' | 'after'>): FieldChange[] {
  return Object.keys({ ...before, ...after })
    .map((name) => ({
      name,
      before: fieldText(name, before?.[name]),
      after: fieldText(name, after?.[name]),
    }))
    .filter((change) => change.before !== change.after);
}

/** One line about it, such as `limits: 60 per minute → 30 per minute, and 2 more`. */
export function changeText(
  entry: Pick<Entry, 'target' | 'before' | 'after'>,
): string {
  const [change, ...rest] = whatChanged(entry);
  if (change === undefined) return 'no visible fields';
  if (entry.before === null) {
    const fields = [change, ...rest]
      .filter(({ after }) => after !== entry.target)
      .slice(0, MOST_OF_NEW);
    return `new: ${fields.map(({ name, after }) => `${name} ${shortened(after)}`).join(', ')}`;
  }
  if (entry.after === null) return 'gone';
  const first = `${change.name}: ${shortened(change.before)} → ${shortened(change.after)}`;
  return rest.length === 0 ? first : `${first}, and ${rest.length} more`;
}

const LIMIT_FIELDS = ['limit', 'limits'];
const LONGEST = 40;
const MOST_OF_NEW = 2;

const shortened = (text = 'none') =>
  text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;

/** Times as the admin API writes them. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** `overlapEnds` as `overlap ends`. */
const labelOf = (name: string) =>
  name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const fieldText = (name: string, value: unknown): string | undefined =>
  typeof value === 'string' && LIMIT_FIELDS.includes(name)
    ? limitsText(value)
    : textOf(value);

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'object' && Object.keys(value).length === 0)
    return undefined;
  if (Array.isArray(value))
    return value.map((one) => textOf(one) ?? 'none').join(', ');
  if (typeof value === 'object') {
    const fields = Object.entries(value).map(
      ([name, one]) => `${labelOf(name)} ${fieldText(name, one) ?? 'none'}`,
    );
    return fields.join(', ');
  }
  return TIME.test(String(value)) ? clockTime(String(value)) : String(value);
}
