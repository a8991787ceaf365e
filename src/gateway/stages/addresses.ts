import { AddressRules } from '../../callers/address-rules.ts';
import { type AddressLists, hasLists } from '../../common/address-lists.ts';
import type { Mount } from '../../config/config.ts';
import type { Refusal } from '../../errors/refusals.ts';
import type { Exchange } from '../exchange.ts';
import { isInMount } from '../routes.ts';
import type { Authenticate } from './authenticate.ts';
import { KnownRefusals } from './known-refusals.ts';

/** The refusal of a request from a denied address; `null`: allowed. */
export type CheckAddress = (exchange: Exchange) => Refusal | null;

/** Runs before anything else of the request is read. `null`: there are no lists. */
export function createAddresses(lists: AddressLists): CheckAddress | null {
  return hasLists(lists) ? checkOf('addresses', lists) : null;
}

/**
 * `authenticate` after the address lists of mounts, which are known before any key is looked up. Paths of the contract
 * are not theirs.
 */
export function behindMounts(
  mounts: readonly Mount[],
  isOfContract: (method: string, path: string) => boolean,
  authenticate: Authenticate,
): Authenticate {
  const listed = mounts
    .filter(({ addresses }) => hasLists(addresses))
    .map((mount) => ({ mount, check: checkOf(`mount ${mount.path}: addresses`, mount.addresses) }));
  if (listed.length === 0) return authenticate;

  return (exchange, target) => {
    const { path } = target;
    const found = listed.find(({ mount }) => isInMount(mount, path));
    if (found === undefined || isOfContract(exchange.call.method, path)) return authenticate(exchange, target);
    const refusal = found.check(exchange);
    if (refusal === null) return authenticate(exchange, target);
    exchange.route = `mount ${found.mount.path}`;
    return refusal;
  };
}

function checkOf(name: string, lists: AddressLists): CheckAddress {
  const rules = new AddressRules(name, lists);
  const refusals = new KnownRefusals('address_denied');
  return ({ address }) => refusals.because(rules.refusing(address));
}
