import type { ExplainedRequest, Faults } from '@storegate/console';
import {
  answerInWords,
  askedInWords,
  bodyInWords,
  equalInWords,
  faultsInWords,
  stepsOf,
} from '@storegate/console/words';
import { card, table, textOf } from './table.ts';

const WINDOW = ['name', 'kind', 'limit', 'before', 'after', 'resetAt'] as const;

/** A request for a person, step by step. `asked`: the id that the person gave. */
export function inSteps(request: ExplainedRequest, colour: boolean, asked = request.id): string {
  const { windows, faults } = request;
  const parts = [
    ...(asked.toLowerCase() === request.id ? [] : [`${equalInWords(asked)}\n`]),
    card(headOf(request), colour),
    card(
      Object.fromEntries(stepsOf(request).map(({ name, became, words }) => [name, `${MARKS[became]}${words}`])),
      colour,
    ),
    ...(windows.length > 0 ? [table(WINDOW, windows, colour)] : []),
    ...(faults.length > 0 ? [faults.map(faultsAsText).join('')] : []),
  ];
  return parts.join('\n');
}

const MARKS = { passed: '', refused: 'REFUSED: ', failed: 'FAILED: ', 'not reached': 'not reached' } as const;

function headOf(request: ExplainedRequest): Record<string, unknown> {
  const { id, at, code, address, gateway, worker, traceparent, body, message, repeated: more } = request;
  return {
    id,
    at: `${at} at ${gateway}${worker === null ? '' : `, worker ${worker}`}, from ${address}`,
    request: askedInWords(request),
    answer: `${answerInWords(request)}${code === null ? '' : ` ${code}`} in ${request.times.total} ms`,
    ...(message === null ? {} : { message }),
    ...(body.declared === 0 && body.received === 0 ? {} : { body: bodyInWords(body) }),
    ...(traceparent === null ? {} : { traceparent }),
    ...(more === 0 ? {} : { repeated: `${more} equal requests before it were not kept` }),
  };
}

function faultsAsText(faults: Faults): string {
  const { head, lines } = faultsInWords(faults);
  // Pointers have names that a caller chose.
  return [`${head}:\n`, ...lines.map((line) => `  ${textOf(line)}\n`)].join('');
}
