import { LAST_TIME } from './durations.ts';

const DATE = /^\d{4}-\d\d-\d\d$/;
const TIME =
  /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;

const isDay = (date: string): boolean => {
  const at = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(date);
};

/**
 * Unix milliseconds of a time of RFC 3339, without leap seconds; with `dates` also of a date, which
 * begins in UTC. An error is returned as the end of a sentence.
 */
export function readMoment(
  text: string,
  { dates = false }: { readonly dates?: boolean } = {},
): number | string {
  const date = dates && DATE.test(text) ? text : TIME.exec(text)?.[1];
  if (date === undefined)
    return `must be ${dates ? 'a date such as 2030-01-31, or ' : ''}a date, time and zone, such as 2030-01-31T00:00:00Z`;
  if (!isDay(date))
    return `must be a day of the calendar, which ${date} is not`;
  const at = Date.parse(text);
  return at >= 0 && at <= LAST_TIME
    ? at
    : 'must be from the year 1970 to the year 9999, in UTC';
}
