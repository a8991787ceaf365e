import { h } from 'preact';
import type { Store } from '../../../admin-api.ts';
import { plural } from '../../format.ts';
import { StoreTable } from '../../parts/store-table.ts';
import { linkTo } from '../../routing.ts';
import { isWell } from '../../sentences/stores.ts';

/** Stores that are up and are shown here; all of them stand in the view Gateways. */
const SHOWN = 5;

/** How every store stands: those first that somebody has to look at. */
export function Stores({ stores }: { stores: readonly Store[] }) {
  const unwell = stores.filter((store) => !isWell(store));
  const well = stores.filter(isWell);
  const left = well.length - SHOWN;
  return h('section', { 'aria-label': 'Stores' }, [
    h('h2', null, 'Stores'),
    h(StoreTable<Store>, { stores: [...unwell, ...well.slice(0, SHOWN)] }),
    left > 0 &&
      h('p', { class: 'about' }, [
        `${plural(left, 'more store')} ${left === 1 ? 'is' : 'are'} up: `,
        h('a', { href: linkTo('gateways') }, 'Gateways'),
      ]),
  ]);
}
