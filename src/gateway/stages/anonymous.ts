import { networkOf } from '../../common/clients/address.ts';
import type { AddressSubjects } from '../../common/clients/address-subjects.ts';
import type { OpenAddressWindow } from '../../common/clients/address-window.ts';
import { MINUTE } from '../../common/time.ts';
import type { Config } from '../../config/config.ts';
import type { Contract } from '../../config/contract/contract.ts';
import type { Limits, Window } from '../../limits/limits.ts';
import { DEFAULT_WEIGHT, type Plan, PUBLIC_PLAN } from '../../limits/plans.ts';
import { type Client, isAnonymous } from '../../records/keys/key.ts';
import type { Exchange } from '../exchange.ts';
import { isPreflight } from '../reply/cors.ts';
import type { Admitted, KnownClient } from '../results.ts';
import { windowUsedUp } from '../route-refusals.ts';
import type { Admit } from './admit.ts';
import type { Anonymous } from './authenticate.ts';

interface AnonymousParts {
  readonly contract: Contract;
  /** See `publicPlanOf`. */
  readonly plan: Plan | null;
  /** Of the plan and all contracts, the same for all APIs. */
  readonly limits: Limits;
  readonly subjects: AddressSubjects;
  /** Paths that always need a key. */
  readonly usagePaths: readonly string[];
}

/** `null`: every request needs a key, because of the plans or the contract. */
export function publicPlanOf({
  config,
  contract,
}: {
  config: Pick<Config, 'plans'>;
  contract: Contract;
}): Plan | null {
  return contract.operations.some(({ isPublic }) => isPublic)
    ? (config.plans.publicPlan ?? null)
    : null;
}

/** Addresses are never banned, because many people may share one. */
export function createAnonymous({
  contract,
  plan,
  limits,
  subjects,
  usagePaths,
}: AnonymousParts): Anonymous | null {
  if (plan === null) return null;
  const { weight = DEFAULT_WEIGHT, concurrency = null } = plan;

  return (exchange, { path }) => {
    const isPublic =
      !usagePaths.includes(path) &&
      contract.match(exchange.call.method, path).operation?.isPublic === true;
    if (!isPublic) return null;
    const { address } = exchange;
    return clientWithoutKey(subjects.of(address), networkOf(address), {
      limits,
      weight,
      concurrency,
    });
  };
}

/** `subject`: of the client address, which networks may share. */
function clientWithoutKey(
  subject: string,
  network: string,
  {
    limits,
    weight,
    concurrency,
  }: Pick<Client, 'limits' | 'concurrency'> & { readonly weight: number },
): Client {
  return {
    keyId: subject,
    account: '',
    plan: PUBLIC_PLAN,
    subject,
    limits,
    concurrency,
    owner: { group: PUBLIC_PLAN, weight, member: network },
    expiresAt: null,
    withdrawn: null,
    addresses: null,
    scopes: [],
    apis: null,
    retiresAt: null,
  };
}

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
 * Lets preflights for the backend pass without a key, because browsers send none. `usagePaths`
 * have no backend.
 */
export function withPreflights(
  other: Anonymous | null,
  usagePaths: readonly string[],
): Anonymous {
  return (exchange, target) => {
    if (!isPreflight(exchange) || usagePaths.includes(target.path))
      return other === null ? null : other(exchange, target);
    const network = networkOf(exchange.address);
    return clientWithoutKey(`address:${network}`, network, CLIENT);
  };
}

/** Preflights without a key are charged to the allowance of their address, not to the state. */
export function admitPreflights(
  admit: Admit,
  openAddressWindow: OpenAddressWindow,
): Admit {
  const { take } = openAddressWindow(ALLOWANCE);

  return function admitPreflight(exchange, client, cost) {
    const isFree = isPreflight(exchange) && isAnonymous(client);
    return isFree ? spend(exchange, client) : admit(exchange, client, cost);
  };

  async function spend(exchange: Exchange, client: KnownClient) {
    const usage = await take(exchange.address);
    exchange.usage = usage;
    exchange.admittedAt = performance.now();
    if (!usage.exhausted) return client as object as Admitted;
    return windowUsedUp(
      exchange,
      usage,
      'Too many preflights from this IP address: wait for Retry-After.',
    );
  }
}
