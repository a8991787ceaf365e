import type { ExplainedRequest, Faults } from '@storegate/console';
import {
  answerInWords,
  askedInWords,
  bodyInWords,
  equalInWords,
  faultsInWords,
  plural,
  stepsOf,
} from '@storegate/console/words';
import { inSentence, safeText, type View } from './output.ts';

const MARKS = { passed: '', refused: 'REFUSED: ', failed: 'FAILED: ', 'not reached': 'not reached' } as const;

/** `asked`: the id that the operator gave. */
export const explainedView: View<ExplainedRequest & { readonly asked: string }> = {
  names: ({ id }) => [id],
  text({ asked, ...request }, page) {
    const { id, windows, faults } = request;
    const steps = stepsOf(request, inSentence).map(({ name, became, words }) => [name, `${MARKS[became]}${words}`]);
    return [
      asked.toLowerCase() === id ? '' : page.notes(equalInWords(asked)),
      page.card(headOf(request)),
      page.card(Object.fromEntries(steps)),
      page.table(['name', 'kind', 'limit', 'before', 'after', 'resetAt'], windows),
      faults.map(violations).join(''),
    ]
      .filter((text) => text !== '')
      .join('\n');
  },
};

function headOf(request: ExplainedRequest): Record<string, unknown> {
  const { id, at, code, address, gateway, worker, traceparent, body, message, repeated } = request;
  return {
    id,
    time: `${at} at ${gateway}${worker === null ? '' : `, worker ${worker}`}, from ${address}`,
    request: askedInWords(request),
    response: `${answerInWords(request)}${code === null ? '' : ` ${code}`} in ${request.times.total} ms`,
    ...(message !== null && { message }),
    ...((body.declared !== 0 || body.received !== 0) && { body: bodyInWords(body) }),
    ...(traceparent !== null && { traceparent }),
    ...(repeated > 0 && { repeated: `${plural(repeated, 'identical request')} before it, not kept` }),
  };
}

function violations(faults: Faults): string {
  const { head, lines } = faultsInWords(faults);
  // Clients choose the names in pointers.
  return [`${head}:\n`, ...lines.map((line) => `  ${safeText(line)}\n`)].join('');
}
