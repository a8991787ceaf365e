import { type AddressLists, hasLists } from '../../common/address-lists.ts';
import { AddressRules } from '../../common/clients/address-rules.ts';
import type { Refusal } from '../../common/errors/refusals.ts';
import type { KeyHeaders } from '../../common/key-headers.ts';
import type { Mount } from '../../config/config.ts';
import type { Exchange } from '../exchange.ts';
import { isInMount } from '../routes.ts';
import type { FieldNames } from '../wire/fields.ts';
import { headOf } from '../wire/head.ts';
import type { Authenticate } from './authenticate.ts';

/** `null`: allowed. */
export type CheckAddress = (exchange: Exchange) => Refusal | null;

/** Before anything else of the request is read. */
export function createAddresses(lists: AddressLists): CheckAddress | null {
  const rules = rulesOf('addresses', lists);
  return rules && (({ address }) => rules.refuse(address));
}

export interface Reading {
  readonly names: FieldNames;
  readonly authenticate: Authenticate;
}

/** Before any key is looked up. Paths of the contract do not belong to mounts. */
export function behindMounts(
  mounts: readonly Mount[],
  isOfContract: (method: string, path: string) => boolean,
  authenticate: Authenticate,
  readingOf: (keyHeaders: KeyHeaders) => Reading,
): Authenticate {
  const own = mounts
    .filter(
      ({ addresses, keyHeaders }) => hasLists(addresses) || keyHeaders !== null,
    )
    .map((mount) => ({
      mount,
      rules: rulesOf(`mount ${mount.path}: addresses`, mount.addresses),
      reading: mount.keyHeaders === null ? null : readingOf(mount.keyHeaders),
    }));
  if (own.length === 0) return authenticate;

  return (exchange, target) => {
    const { path } = target;
    const found = own.find(({ mount }) => isInMount(mount, path));
    if (found === undefined || isOfContract(exchange.call.method, path))
      return authenticate(exchange, target);
    const { mount, rules, reading } = found;
    const refusal = rules?.refuse(exchange.address) ?? null;
    if (refusal !== null) {
      exchange.route = `mount ${mount.path}`;
      return refusal;
    }
    if (reading === null) return authenticate(exchange, target);
    exchange.head = headOf(exchange.call.fields, reading.names);
    return reading.authenticate(exchange, target);
  };
}

function rulesOf(name: string, lists: AddressLists): AddressRules | null {
  return hasLists(lists)
    ? new AddressRules(name, lists, 'address_denied')
    : null;
}
