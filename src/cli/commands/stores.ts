import type { Store } from '@storegate/console';
import { connectionsInWords, missingGateways, NO_GATEWAY, reasonInWords, stateInWords } from '@storegate/console/words';
import type { Command } from 'commander';
import { addCall } from '../command.ts';
import type { Terminal } from '../terminal.ts';

const COLUMNS = [
  ...['upstream', 'store', 'state', 'since', 'reason', 'weight', 'in flight'],
  ...['requests', 'failures', 'retries', 'connections'],
];

export function addStores(program: Command, terminal: Terminal): void {
  addCall(terminal, program, 'stores', {
    about: 'list upstream stores and their health',
    examples: ['stores'],
    ask: (api) => api.call('GET', '/stores'),
    view: {
      text: (answer, page) =>
        page.table(COLUMNS, answer.stores.map(rowOf), answer.unresponsive.length === 0 ? NO_GATEWAY : 'No stores.') +
        page.notes(...missingGateways(answer)),
      names: ({ stores }) => stores.map(({ store }) => store),
    },
  });
}

function rowOf(one: Store) {
  return {
    ...one,
    state: stateInWords(one),
    reason: reasonInWords(one),
    'in flight': one.inFlight,
    connections: connectionsInWords(one.connections),
  };
}
