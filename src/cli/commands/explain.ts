import type { ExplainedRequest, Faults } from '@storegate/admin-api';
import {
  bodyText,
  faultsText,
  identicalText,
  plural,
  processName,
  requestText,
  resetInWords,
  responseText,
  stepsOf,
} from '@storegate/admin-api/text';
import { call } from '../command.ts';
import { CommandError, refuseSecret } from '../connect/api.ts';
import { inSentence, safeText, type View } from '../output.ts';

const REQUEST_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MARKS = {
  passed: '',
  refused: 'REFUSED: ',
  failed: 'FAILED: ',
  'not reached': 'not reached',
} as const;

/** `asked`: the id that the operator gave. */
export const explainedView: View<
  ExplainedRequest & { readonly requested: string }
> = ({ requested: sent, ...request }, page) => {
  const { id, windows, faults } = request;
  const steps = stepsOf(request, inSentence).map(({ name, became, text }) => [
    name,
    `${MARKS[became]}${text}`,
  ]);
  return [
    sent.toLowerCase() === id ? '' : page.notes(identicalText(sent)),
    page.card(headOf(request)),
    page.card(Object.fromEntries(steps)),
    page.table(
      ['name', 'kind', 'limit', 'before', 'after', 'resets'],
      windows.map((one) => ({
        ...one,
        resets: resetInWords(request, one, inSentence),
      })),
    ),
    faults.map(violations).join(''),
  ]
    .filter((text) => text !== '')
    .join('\n');
};

export const explainCommand = call(
  'explain <request-id>',
  'explain how a recent request was handled',
  {
    details:
      'The request id is the header X-Request-Id of the response. "storegate requests" lists recent refusals.',
    examples: ['explain 0b7f4a52-63c1-4c0e-9d0f-2f6f1c9a7b3e'],
    async ask(api, _options, id) {
      refuseSecret(id);
      if (!REQUEST_ID.test(id))
        throw new CommandError(notAnId(id), { failure: 'usage' });
      return {
        requested: id,
        ...(await api.call('explainRequest', { params: { id } })),
      };
    },
    view: explainedView,
  },
);

function notAnId(text: string): string {
  return (
    `${JSON.stringify(text)} is not a request id: use the header X-Request-Id of a response. ` +
    'To find recent refusals, run "storegate requests".'
  );
}

function headOf(request: ExplainedRequest): Record<string, unknown> {
  const { id, at, code, address, traceparent, body, message, repeated } =
    request;
  return {
    id,
    time: `${at} at ${processName(request)}, from ${address}`,
    request: requestText(request),
    response: `${responseText(request)}${code === null ? '' : ` ${code}`} in ${request.times.total} ms`,
    ...(message !== null && { message }),
    ...((body.declared !== 0 || body.received !== 0) && {
      body: bodyText(body),
    }),
    ...(traceparent !== null && { traceparent }),
    ...(repeated > 0 && {
      repeated: `${plural(repeated, 'identical request')} before it, not kept`,
    }),
  };
}

function violations(faults: Faults): string {
  const { head, lines } = faultsText(faults);
  // Clients choose the names in pointers.
  return [`${head}:\n`, ...lines.map((line) => `  ${safeText(line)}\n`)].join(
    '',
  );
}
