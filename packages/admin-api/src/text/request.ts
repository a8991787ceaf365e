import type { Decision, ExplainedRequest, Faults } from '../generated/types.ts';
import { plural, span } from './format.ts';
import type { WriteTime } from './gateways.ts';

// A request step by step, for the console and the command line.

export interface ExplainedStep {
  readonly name: string;
  readonly became: 'passed' | 'refused' | 'failed' | 'not reached';
  /** Empty if the step was not reached. */
  readonly text: string;
}

/** The steps of a request that needs a key. */
const STEPS = ['http', 'authenticate', 'admit', 'contract', 'backend'] as const;
/** The steps of operations that the gateway serves itself. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  reference: ['http', 'pages'],
  usage: ['http', 'authenticate', 'usage'],
};

export function responseText({ status, complete }: ExplainedRequest): string {
  if (status === 499) return '499, client disconnected';
  return complete ? `${status}` : `${status}, incomplete`;
}

/** For a request that was not kept itself. */
export function identicalText(requested: string): string {
  return `${requested} was not kept. Below is the identical refusal before it.`;
}

export function bodyText({
  declared,
  received,
}: ExplainedRequest['body']): string {
  return declared === null || declared === received
    ? `${received} bytes`
    : `${received} of ${declared} bytes received before the response`;
}

/** Requests without an operation of the contract are of the operation `none`, also of an API. */
export const operationText = (operation: string): string =>
  operation.replace(/(?<=^|^[a-z0-9-]+\/)none$/, '(no operation)');

/** `GET /pets/17 (getPet)`; from an earlier version the template of the path. */
export function requestText({
  method,
  path,
  sentPath,
  operation,
}: ExplainedRequest): string {
  const requested = sentPath ?? path;
  const text = operationText(operation);
  if (requested === null) return `${method} ${text}`;
  return `${method} ${requested} ${text === operation ? `(${text})` : text}`;
}

/** When a window is reset, from the begin of the request: `in 17s (10:20:30)`. */
export const resetInWords = (
  { at }: Pick<ExplainedRequest, 'at'>,
  { resetAt }: Pick<ExplainedRequest['windows'][number], 'resetAt'>,
  time: WriteTime,
): string =>
  `in ${span(Date.parse(resetAt) - Date.parse(at))} (${time(resetAt)})`;

/** All steps in order, also those behind the step that ended the request. */
export function stepsOf(
  request: ExplainedRequest,
  time: WriteTime = (at) => at,
): readonly ExplainedStep[] {
  const steps = stepsReached(request);
  const ended =
    request.step === null ? steps.length : steps.indexOf(request.step);
  return steps.map((name, i) => {
    if (i > ended) return { name, became: 'not reached', text: '' };
    const became =
      i < ended ? 'passed' : request.status < 500 ? 'refused' : 'failed';
    return { name, became, text: STEP_TEXTS[name]!(request, time) };
  });
}

function stepsReached({
  operation,
  path,
  key,
  step,
}: ExplainedRequest): readonly string[] {
  // An operation of the contract, which has a path, may have any name.
  if (path === null && Object.hasOwn(OWN, operation)) return OWN[operation]!;
  // Only a CORS preflight gets this far without a key.
  return key === null && step === null ? ['http', 'preflight'] : STEPS;
}

type StepText = (request: ExplainedRequest, time: WriteTime) => string;

const STEP_TEXTS: Readonly<Record<string, StepText>> = {
  http: ({ step, code, reason }) =>
    step === 'http' ? `${code}${given(': ', reason)}` : 'accepted',
  preflight: () => 'served by the gateway, no key needed',
  pages: ({ step, code }) =>
    step === 'pages' ? `${code}` : 'served by the gateway',
  usage: ({ step, code }) =>
    step === 'usage' ? `${code}` : 'served by the gateway',
  authenticate({ step, code, key, times, outage, reason }) {
    const who =
      key === null ? 'no key' : `${key.id} of ${key.account}, plan ${key.plan}`;
    return step === 'authenticate'
      ? `${code}${given(': ', reason)}; ${who}${given(', ', outage)}`
      : `${who}${after(times.authenticated, 0)}`;
  },
  admit({ decision, code, outage, times, method, windows }, time) {
    if (decision === null)
      return code === null || method === 'OPTIONS'
        ? 'not counted'
        : `${code}${given(', ', outage)}`;
    const excess = windows.map(excessText).join('');
    return `${decisionText(decision, time)}${excess}${after(times.admitted, times.authenticated)}`;
  },
  contract({ step, code, operation, faults, times }) {
    if (step === 'contract') return `${code}`;
    return `${checkText(operation, faults)}${after(times.forwarded, times.admitted)}`;
  },
  backend({ backend, status, code, outage, step, times }) {
    if (backend === null) return 'not called';
    if (backend.attempts === 0)
      return `not called: ${code ?? 'no backend available'}`;
    const tries = backend.attempts > 1 ? `${backend.attempts} attempts; ` : '';
    const who = backendText(backend);
    const result =
      step === 'backend' && code !== null
        ? `${who === '' ? '' : `${who}: `}${code}${given(', ', outage)}`
        : `${who === '' ? '' : `${who} `}returned ${status}`;
    return `${tries}${result}${after(times.answered, times.forwarded)}`;
  },
};

/** The backend of the last attempt: `10.0.0.7:8080 of default`; empty if unknown. */
export function backendText({
  target: requested,
}: NonNullable<ExplainedRequest['backend']>): string {
  return requested ? `${requested.backend} of ${requested.upstream}` : '';
}

function checkText(operation: string, faults: readonly Faults[]): string {
  if (faults.some(({ side }) => side === 'request'))
    return 'invalid, only reported';
  return /(?:^|\/)undescribed$/.test(operation)
    ? 'not described, not validated'
    : 'valid';
}

/** The duration of a step, if known. */
function after(at: number | null, before: number | null): string {
  return at === null || before === null
    ? ''
    : ` (${(at - before).toFixed(3)} ms)`;
}

/** A reason that only operators see, or an outage, behind a mark. */
const given = (mark: ': ' | ', ', text: string | null): string =>
  text === null ? '' : `${mark}${text}`;

const BY = {
  state: '',
  memory: ', from a cached refusal',
  local: ', decided locally without Redis',
} as const;

function excessText({
  name,
  excess,
  over,
}: ExplainedRequest['windows'][number]): string {
  if (excess === null || over === 0) return '';
  return excess === 'watch'
    ? `; ${name} would have refused it, but only watches`
    : `; ${plural(over, 'unit')} above the limit of ${name}`;
}

function decisionText(decision: Decision, time: WriteTime): string {
  const {
    verdict,
    by,
    cost,
    violated,
    retryAt,
    retryAfter,
    strikes,
    strikesToBan,
    bannedUntil,
    banStarted,
    level,
  } = decision;
  const units = plural(cost, 'unit');
  if (verdict === 'admitted') return `admitted, ${units}${BY[by]}`;
  const ban = bannedUntil === null ? '' : ` until ${time(bannedUntil)}`;
  const parts = [
    verdict === 'banned' ? `banned${ban}` : `limited`,
    ...(banStarted
      ? [
          `the ban began with this request${level === null ? '' : `, level ${level}`}`,
        ]
      : []),
    ...(violated === null ? [] : [`${violated} has less than ${units} left`]),
    ...(strikesToBan === null || verdict === 'banned'
      ? []
      : [`${strikes} of ${strikesToBan} strikes`]),
    ...(retryAt === null
      ? []
      : [`retry at ${time(retryAt)}, in ${retryAfter} s`]),
  ];
  return `${parts.join('; ')}${BY[by]}`;
}

/** Contract violations: how many, and place and rule of the first. */
export function faultsText({ side, reportOnly, count, faults }: Faults): {
  head: string;
  lines: string[];
} {
  const whose =
    side === 'request' ? 'the request' : 'the response of the backend';
  const others = count - faults.length;
  return {
    head: `${plural(count, 'violation')} in ${whose}${reportOnly ? ', report only' : ''}`,
    lines: [
      ...faults.map(
        ({ in: place, pointer, rule }) =>
          `${place} ${pointer === '' ? '(whole)' : pointer}: ${rule}`,
      ),
      ...(others > 0 ? [`and ${others} more`] : []),
    ],
  };
}
