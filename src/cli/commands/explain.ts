import type { ExplainedRequest } from '@storegate/console';
import { Command } from 'commander';
import { type Common, operatorCommand, paragraph, perform } from '../command.ts';
import { inSteps } from '../explanation.ts';
import type { Terminal } from '../terminal.ts';

export function explainCommand(terminal: Terminal): Command {
  const command = new Command('explain')
    .description('tell of one of the last requests what was decided at each step, and why')
    .argument('<request>', 'the X-Request-Id of its answer; storegate requests lists the last refusals');
  return operatorCommand(command, 'explain 0b7f4a52-63c1-4c0e-9d0f-2f6f1c9a7b3e').action(
    (request: string, options: Common) =>
      perform(
        terminal,
        options,
        (api) => api.call<ExplainedRequest>('GET', `/requests/${paragraph(request)}`),
        (explained, colour) => inSteps(explained, colour, request),
      ),
  );
}
