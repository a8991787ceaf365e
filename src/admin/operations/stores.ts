import { ask } from '../../observe/peers/peers.ts';
import { status } from '../../observe/peers/status.ts';
import { type SeenStore, type StoreOfAll, storesOfAll } from '../../observe/peers/stores.ts';
import { type AdminOperations, ok } from '../call.ts';
import type { AdminContext } from '../context.ts';
import { coverageOf, shownConnections, stateOf } from '../peer-names.ts';
import { time } from '../view.ts';

export function storeOperations(context: AdminContext) {
  return {
    listStores: async () => {
      const { answers, silent, apart } = await ask(context.peers(), status, null);
      const gateways = answers.map(({ gateway, answer: { processes } }) => ({ gateway, processes }));
      const stores = storesOfAll(gateways).map((store) => ({
        ...storeView(store),
        processes: store.seen.map(observationView),
      }));
      return ok({ stores, ...coverageOf({ silent, apart }) });
    },
  } satisfies Partial<AdminOperations>;
}

export function storeView({ seen: _seen, since, state, of, down, connections, ...rest }: StoreOfAll) {
  return {
    ...rest,
    ...{ state: stateOf(state), since: time(since), total: of, down },
    connections: shownConnections(connections),
  };
}

function observationView(seen: SeenStore) {
  const { gateway, worker, state, since, reason, inFlight, requests, failures, retries } = seen;
  return {
    ...{ gateway, worker, state: stateOf(state), reason, inFlight, requests, failures, retries },
    since: time(since),
    connections: shownConnections(seen),
  };
}
