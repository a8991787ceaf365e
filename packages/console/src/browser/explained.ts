import type { Decision, ExplainedRequest, Faults } from '../admin-api.ts';

// A request in words, step by step, for the console and the command line.

/** A step of its way, and what was decided there. */
export interface ToldStep {
  readonly name: string;
  readonly became: 'passed' | 'refused' | 'failed' | 'not reached';
  /** Empty where it was not reached. */
  readonly words: string;
}

/** The steps of every request that needs a key, in their order. */
const STEPS = ['door', 'authenticate', 'admit', 'contract', 'store'] as const;
/** Those that take the place of what is behind them. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  reference: ['door', 'pages'],
  usage: ['door', 'authenticate', 'usage'],
};

export function answerInWords({ status, complete }: ExplainedRequest): string {
  if (status === 499) return '499, the caller left before it';
  return complete ? `${status}` : `${status}, broken off`;
}

/** What is said of a request that was not kept by itself. */
export function equalInWords(asked: string): string {
  return `${asked} was refused like the request below: of equal refusals in a flood only some are kept, and this is the one before it.`;
}

export function bodyInWords({ declared, received }: ExplainedRequest['body']): string {
  return declared === null || declared === received
    ? `${received} bytes`
    : `${received} of ${declared} bytes came before the answer`;
}

/** What it asked for: `GET /pets/{petId} (getPet)`. */
export function askedInWords({ method, path, operation }: ExplainedRequest): string {
  return `${method} ${path === null ? operation : `${path} (${operation})`}`;
}

/** All steps in their order; those behind the one that ended the request were not reached. `time`: how times are said. */
export function stepsOf(request: ExplainedRequest, time: (at: string) => string = (at) => at): readonly ToldStep[] {
  const steps = stepsAsked(request);
  const ended = request.step === null ? steps.length : steps.indexOf(request.step);
  return steps.map((name, i) => {
    if (i > ended) return { name, became: 'not reached', words: '' };
    const became = i < ended ? 'passed' : request.status < 500 ? 'refused' : 'failed';
    return { name, became, words: WORDS[name]!(request, time) };
  });
}

function stepsAsked({ operation, path, key, step }: ExplainedRequest): readonly string[] {
  // An operation of the contract, which has a path, may have any name.
  if (path === null && Object.hasOwn(OWN, operation)) return OWN[operation]!;
  // Whoever gets so far without a key asks before a page's request (CORS).
  return key === null && step === null ? ['door', 'preflight'] : STEPS;
}

type InWords = (request: ExplainedRequest, time: (at: string) => string) => string;

const WORDS: Readonly<Record<string, InWords>> = {
  door: ({ step, code, reason }) => (step === 'door' ? `${code}${because(reason)}` : 'taken'),
  preflight: () => 'answered by the gateway itself, needs no key',
  pages: ({ step, code }) => (step === 'pages' ? `${code}` : 'answered by the gateway itself'),
  usage: ({ step, code }) => (step === 'usage' ? `${code}` : 'answered by the gateway itself'),
  authenticate({ step, code, key, times, outage, reason }) {
    const who = key === null ? 'no key was found' : `${key.id} of ${key.account}, plan ${key.plan}`;
    return step === 'authenticate'
      ? `${code}${because(reason)}; ${who}${outageInWords(outage)}`
      : `${who}${after(times.authenticated, 0)}`;
  },
  admit({ decision, code, outage, times, method }, time) {
    if (decision === null)
      return code === null || method === 'OPTIONS' ? 'nothing to charge' : `${code}${outageInWords(outage)}`;
    return `${decisionInWords(decision, time)}${after(times.admitted, times.authenticated)}`;
  },
  contract({ step, code, operation, times }) {
    if (step === 'contract') return `${code}`;
    const fits = operation.startsWith('mount ') ? 'a mount, which has none' : 'fits';
    return `${fits}${after(times.forwarded, times.admitted)}`;
  },
  store({ store, status, code, outage, step, times }) {
    if (store === null) return 'not asked';
    if (store.attempts === 0) return `not asked: ${code ?? 'no store took it'}`;
    const tries = store.attempts > 1 ? `asked ${store.attempts} times; ` : '';
    const who = storeInWords(store);
    const answered =
      step === 'store' && code !== null
        ? `${who === '' ? '' : `${who}: `}${code}${outageInWords(outage)}`
        : `${who === '' ? '' : `${who} `}answered ${status}`;
    return `${tries}${answered}${after(times.answered, times.forwarded)}`;
  },
};

/** The store that was asked last: `10.0.0.7:8080 of default`. Empty where none was, or nobody knows. */
export function storeInWords({ asked }: NonNullable<ExplainedRequest['store']>): string {
  return asked ? `${asked.store} of ${asked.upstream}` : '';
}

/** What a step took, where it is known. */
function after(at: number | null, before: number | null): string {
  return at === null || before === null ? '' : ` (${(at - before).toFixed(3)} ms)`;
}

/** What operators alone are told of a refusal. */
function because(reason: string | null): string {
  return reason === null ? '' : `: ${reason}`;
}

function outageInWords(outage: string | null): string {
  return outage === null ? '' : `, ${outage}`;
}

const BY = {
  state: '',
  memory: ', known from an earlier refusal',
  alone: ', decided without the shared state, which was away',
} as const;

function decisionInWords(decision: Decision, time: (at: string) => string): string {
  const { verdict, by, cost, violated, retryAt, retryAfter, strikes, strikesToBan, bannedUntil, banBegan, rung } =
    decision;
  const units = `${cost} ${cost === 1 ? 'unit' : 'units'}`;
  if (verdict === 'admitted') return `admitted, ${units}${BY[by]}`;
  const ban = bannedUntil === null ? '' : ` until ${time(bannedUntil)}`;
  const parts = [
    verdict === 'banned' ? `banned${ban}` : `limited`,
    ...(banBegan ? [`the ban began with this request${rung === null ? '' : `, rung ${rung}`}`] : []),
    ...(violated === null ? [] : [`nothing is left of ${violated} for ${units}`]),
    ...(strikesToBan === null || verdict === 'banned' ? [] : [`${strikes} of ${strikesToBan} strikes`]),
    ...(retryAt === null ? [] : [`try again at ${time(retryAt)}, in ${retryAfter} s`]),
  ];
  return `${parts.join('; ')}${BY[by]}`;
}

/** What is told of faults: how many, and each that is known by its place and rule. */
export function faultsInWords({ side, reportOnly, count, faults }: Faults): { head: string; lines: string[] } {
  const whose = side === 'request' ? 'the request' : 'the answer of the store';
  const left = count - faults.length;
  return {
    head: `${count === 1 ? '1 fault' : `${count} faults`} of ${whose}${reportOnly ? ', only reported' : ''}`,
    lines: [
      ...faults.map(({ in: place, pointer, rule }) => `${place} ${pointer === '' ? '(as a whole)' : pointer}: ${rule}`),
      ...(left > 0 ? [`and ${left} more`] : []),
    ],
  };
}
