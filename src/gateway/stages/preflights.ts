import { networkOf } from '../../common/callers/address.ts';
import { createCallerWindow } from '../../common/callers/caller-window.ts';
import { MINUTE } from '../../common/time.ts';
import type { Limits, Window } from '../../limits/limits.ts';
import { DEFAULT_WEIGHT } from '../../limits/plans.ts';
import { isAnonymous } from '../../records/keys/key.ts';
import type { Exchange } from '../exchange.ts';
import { isPreflight } from '../reply/cors.ts';
import type { Admitted, KnownClient } from '../results.ts';
import { windowUsedUp } from '../route-refusals.ts';
import type { Admit } from './admit.ts';
import { clientWithoutKey } from './anonymous.ts';
import type { Anonymous } from './authenticate.ts';

/** Preflights per address and minute: a hundred people may share an address. */
const ALLOWANCE: Window = {
  name: 'preflights',
  kind: 'fixed',
  limit: 6_000,
  span: MINUTE,
};
const LIMITS: Limits = { windows: [ALLOWANCE], escalation: null };
const CLIENT = { limits: LIMITS, weight: DEFAULT_WEIGHT, concurrency: null };

/**
 * Lets preflights for the backend pass without a key, because browsers send none. `usagePath` has
 * no backend; `null`: it belongs to the API.
 */
export function withPreflights(
  other: Anonymous | null,
  usagePath: string | null,
): Anonymous {
  return (exchange, target) => {
    if (!isPreflight(exchange) || target.path === usagePath)
      return other === null ? null : other(exchange, target);
    const network = networkOf(exchange.address);
    return clientWithoutKey(`address:${network}`, network, CLIENT);
  };
}

/** Preflights without a key are charged to the allowance of their address, not to the state. */
export function admitPreflights(admit: Admit): Admit {
  const { take } = createCallerWindow(ALLOWANCE);

  return function admitPreflight(exchange, client, cost, scopes) {
    const isFree = isPreflight(exchange) && isAnonymous(client);
    return isFree
      ? spend(exchange, client)
      : admit(exchange, client, cost, scopes);
  };

  async function spend(exchange: Exchange, client: KnownClient) {
    const usage = await take(exchange.address);
    exchange.usage = usage;
    exchange.admittedAt = performance.now();
    if (!usage.exhausted) return client as object as Admitted;
    return windowUsedUp(
      usage,
      'Too many preflights from this IP address: wait for Retry-After.',
    );
  }
}
