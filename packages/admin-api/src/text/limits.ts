import { number } from './format.ts';

// Limits in words, for sentences; fields and options have the notation.

/** `60/minute,10/10s:sliding` as `60 per minute, 10 per 10s (sliding)`. */
export function limitsText(limits: string): string {
  return limits.split(',').map(limitText).join(', ');
}

/**
 * With an API, a kind, a time zone, a first day, what happens above the limit, and a scope, all
 * optional.
 */
const LIMIT =
  /^(\d+)\/(\w+)(?:@([\w-]+))?(?::(\w+)(?::([\w+/-]+?)(?::(\d+))?)?)?(?:\+(watch|overage))?( for .+)?$/s;
const EXCESS: Readonly<Record<string, string>> = {
  watch: 'only watches',
  overage: 'with overage',
};

/** `5/minute for login` as `5 per minute for login`; text of another form stays. */
export function limitText(text: string): string {
  const limit = text.trim();
  const [, count, span, api, kind, zone, anchor, excess, scope = ''] =
    LIMIT.exec(limit) ?? [];
  if (count === undefined) return limit;
  const first = anchor && `from day ${anchor}`;
  const details = [kind, zone, first, excess && EXCESS[excess]].filter(Boolean);
  const remark = details.length === 0 ? '' : ` (${details.join(', ')})`;
  const where = api === undefined ? scope : ` for the API ${api}`;
  return `${number(Number(count))} per ${span}${remark}${where}`;
}
