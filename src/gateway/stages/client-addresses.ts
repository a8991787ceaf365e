import { isAmong } from '../../callers/address.ts';
import { AddressRules } from '../../callers/address-rules.ts';
import { listsOf } from '../../common/address-lists.ts';
import { Refusal } from '../../errors/refusals.ts';
import type { ClientAddresses } from '../../keys/key.ts';
import type { Plan } from '../../limits/plans.ts';
import { KnownRefusals } from './known-refusals.ts';

const OF_KEY = new Refusal('address_not_allowed', { reason: 'the addresses of the key do not have it' });

/** A reload brings new plans. */
const ofPlans = new WeakMap<Plan, { readonly rules: AddressRules; readonly refusals: KnownRefusals }>();

/** `null`: allowed. */
export function refusalFrom({ key, plan }: ClientAddresses, address: string): Refusal | null {
  if (key !== null && !isAmong(key, address)) return OF_KEY;
  if (plan === null) return null;
  let of = ofPlans.get(plan);
  if (of === undefined) {
    const { allow, deny } = plan.addresses!;
    of = {
      rules: new AddressRules(`plan ${plan.name}: addresses`, listsOf(allow, deny)),
      refusals: new KnownRefusals('address_not_allowed'),
    };
    ofPlans.set(plan, of);
  }
  return of.refusals.because(of.rules.refusing(address));
}
