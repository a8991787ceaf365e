import { suggest } from '../common/suggest.ts';
import { apiNameIn, undescribedName } from '../config/apis.ts';
import { PUBLIC_PLAN } from '../limits/plans.ts';
import { AdminError, faultOf } from './admin-error.ts';
import type { AdminContext } from './context.ts';

/** Longer lists are left out if one of their names was probably meant. */
const MOST_NAMED = 40;

/** For a value of `field` that must be the name of a `what`. */
export function unknownName(
  what: string,
  value: string,
  names: readonly string[],
  field = what,
): AdminError {
  const near = suggest(value, names);
  const meant = near === null ? '' : ` Did you mean ${JSON.stringify(near)}?`;
  const all =
    near !== null && names.length > MOST_NAMED ? '' : ` ${listOf(what, names)}`;
  const message = `The ${what} ${JSON.stringify(value)} does not exist.${meant}${all}`;
  return new AdminError('invalid_value', message, {
    details: faultOf(field, message),
  });
}

const listOf = (what: string, names: readonly string[]): string =>
  `Known ${what}s: ${names.length === 0 ? 'none' : names.join(', ')}.`;

/**
 * Refuses the name of a filter that found nothing. What was found counts, because records outlive
 * names: keys of a removed plan can still be listed.
 */
export function refuseUnknown(
  what: string,
  value: string | undefined,
  names: readonly string[],
  field = what,
): void {
  if (value !== undefined && !names.includes(value))
    throw unknownName(what, value, names, field);
}

/** Whether operations are of an API; all are without one. Throws AdminError if it does not exist. */
export function ofApi(
  { plans }: AdminContext,
  api: string | undefined,
): (operation: string) => boolean {
  if (api === undefined) return () => true;
  const { apis = [] } = plans();
  refuseUnknown('API', api, apis, 'api');
  const all = new Set(apis);
  return (operation) => apiNameIn(operation, all) === api;
}

/**
 * As `refuseUnknown`, for filters of requests. An operation is of a contract, or of the gateway.
 */
export function refuseUnknownFilters(
  { config, contract, plans }: AdminContext,
  query: { plan?: string | undefined; operation?: string | undefined },
): void {
  refuseUnknown('plan', query.plan, [...plans().plans.keys(), PUBLIC_PLAN]);
  refuseUnknown('operation', query.operation, [
    ...contract().operations.map(({ id }) => id),
    ...config().apis.map((api) => undescribedName(api)),
    'usage',
    'reference',
  ]);
}
