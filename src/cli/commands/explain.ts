import type { Command } from 'commander';
import { addCall, segment } from '../command.ts';
import { CallError } from '../connect/api.ts';
import { explainedView } from '../explanation.ts';
import type { Terminal } from '../terminal.ts';

const REQUEST_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function addExplain(program: Command, terminal: Terminal): void {
  addCall(terminal, program, 'explain <request-id>', {
    about: 'explain how a recent request was handled',
    details: 'The request id is the header X-Request-Id of the response. "storegate requests" lists recent refusals.',
    examples: ['explain 0b7f4a52-63c1-4c0e-9d0f-2f6f1c9a7b3e'],
    async ask(api, _options, id: string) {
      const path = `/requests/${segment(id)}` as const;
      if (!REQUEST_ID.test(id)) throw new CallError(notAnId(id), { failure: 'usage' });
      return { asked: id, ...(await api.call('GET', path)) };
    },
    view: explainedView,
  });
}

function notAnId(text: string): string {
  return (
    `${JSON.stringify(text)} is not a request id: use the header X-Request-Id of a response. ` +
    'To find recent refusals, run "storegate requests".'
  );
}
