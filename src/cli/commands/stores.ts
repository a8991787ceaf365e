import type { Store, Stores } from '@storegate/console';
import { connectionsInWords, NO_GATEWAY, reasonInWords, stateInWords } from '@storegate/console/words';
import { Command } from 'commander';
import { type Common, operatorCommand, perform } from '../command.ts';
import { withUnresponsive } from '../peers.ts';
import { table } from '../table.ts';
import type { Terminal } from '../terminal.ts';

const COLUMNS = [
  'upstream',
  'store',
  'state',
  'since',
  'reason',
  'weight',
  'in flight',
  'requests',
  'failures',
  'retries',
  'connections',
] as const;

export function storesCommand(terminal: Terminal): Command {
  return operatorCommand(
    new Command('stores').description('show every store, and whether it takes requests'),
    'stores',
    'stores --url http://127.0.0.1:9901 --json',
  ).action((options: Common) => perform(terminal, options, (api) => api.call<Stores>('GET', '/stores'), showStores));
}

function showStores(answer: Stores, colour: boolean): string {
  const { stores, unresponsive: silent } = answer;
  if (stores.length === 0 && silent.length === 0) return `${NO_GATEWAY}\n`;
  return table(COLUMNS, stores.map(rowOf), colour) + withUnresponsive([], answer);
}

function rowOf(one: Store) {
  const { upstream, store, since, weight, inFlight, requests, failures, retries, connections } = one;
  return {
    upstream,
    store,
    state: stateInWords(one),
    since,
    reason: reasonInWords(one),
    weight,
    'in flight': inFlight,
    requests,
    failures,
    retries,
    connections: connectionsInWords(connections),
  };
}
