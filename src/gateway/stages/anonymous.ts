import { networkOf } from '../../common/callers/address.ts';
import type { AddressSubjects } from '../../common/callers/address-subjects.ts';
import type { Config } from '../../config/config.ts';
import type { Contract } from '../../config/contract/contract.ts';
import { DEFAULT_WEIGHT, type Plan, PUBLIC_PLAN } from '../../limits/plans.ts';
import type { Client } from '../../records/keys/key.ts';
import { limitsOf } from '../../records/keys/subjects.ts';
import type { Anonymous } from './authenticate.ts';

interface AnonymousParts {
  readonly contract: Contract;
  /** See `publicPlanOf`. */
  readonly plan: Plan | null;
  readonly subjects: AddressSubjects;
  /** A path that needs a key whatever the contract says. */
  readonly usagePath: string | null;
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
  subjects,
  usagePath,
}: AnonymousParts): Anonymous | null {
  if (plan === null) return null;
  const { windows, weight = DEFAULT_WEIGHT, concurrency = null } = plan;
  const limits = limitsOf(windows!, {
    escalation: null,
    scoped: contract.windows,
  });

  return (exchange, { path }) => {
    const isPublic =
      path !== usagePath &&
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
export function clientWithoutKey(
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
    revoked: false,
    addresses: null,
    scopes: [],
    retiresAt: null,
  };
}
