import { card, table, textOf } from './table.ts';

/** A request as `GET /requests/{id}` of the admin API tells it. */
export interface Explained {
  readonly id: string;
  readonly gateway: string;
  readonly worker: number | null;
  readonly at: string;
  readonly method: string;
  readonly operation: string;
  readonly path: string | null;
  readonly status: number;
  readonly complete: boolean;
  readonly step: string | null;
  readonly code: string | null;
  readonly message: string | null;
  readonly key: { readonly id: string; readonly account: string; readonly plan: string } | null;
  readonly address: string;
  readonly traceparent: string | null;
  readonly decision: Decision | null;
  readonly windows: readonly Readonly<Record<(typeof WINDOW)[number], string | number>>[];
  readonly faults: readonly Faults[];
  readonly body: { readonly declared: number | null; readonly received: number };
  readonly store: { readonly attempts: number; readonly head: number | null } | null;
  readonly outage: string | null;
  readonly times: Readonly<Record<'authenticated' | 'admitted' | 'forwarded' | 'answered', number | null>> & {
    readonly total: number;
  };
  readonly more: number;
}

interface Decision {
  readonly verdict: 'admitted' | 'limited' | 'banned';
  readonly by: 'state' | 'memory' | 'alone';
  readonly cost: number;
  readonly violated: string | null;
  readonly retryAt: string | null;
  readonly retryAfter: number | null;
  readonly strikes: number;
  readonly strikesToBan: number | null;
  readonly bannedUntil: string | null;
  readonly banBegan: boolean;
  readonly rung: number | null;
}

interface Faults {
  readonly side: 'request' | 'response';
  readonly reportOnly: boolean;
  readonly count: number;
  readonly faults: readonly { readonly in: string; readonly pointer: string; readonly rule: string }[];
}

const WINDOW = ['name', 'kind', 'limit', 'before', 'after', 'resetAt'] as const;

/** The steps of every request that needs a key, in their order. */
const STEPS = ['door', 'authenticate', 'admit', 'contract', 'store'] as const;
/** Those that take the place of what is behind them. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  reference: ['door', 'pages'],
  usage: ['door', 'authenticate', 'usage'],
};

/** A request for a person, step by step. */
export function inSteps(request: Explained, colour: boolean): string {
  const { windows, faults } = request;
  const parts = [
    card(headOf(request), colour),
    card(stepsOf(request), colour),
    ...(windows.length > 0 ? [table(WINDOW, windows, colour)] : []),
    ...(faults.length > 0 ? [faults.map(faultsInWords).join('')] : []),
  ];
  return parts.join('\n');
}

function headOf(request: Explained): Record<string, unknown> {
  const { id, at, method, path, operation, code, address, gateway, worker, traceparent, body, message, more } = request;
  return {
    request: id,
    at: `${at} at ${gateway}${worker === null ? '' : `, worker ${worker}`}, from ${address}`,
    asked: `${method} ${path === null ? operation : `${path} (${operation})`}`,
    answer: `${answerOf(request)}${code === null ? '' : ` ${code}`} in ${request.times.total} ms`,
    ...(message === null ? {} : { message }),
    ...(body.declared === 0 && body.received === 0 ? {} : { body: bodyInWords(body) }),
    ...(traceparent === null ? {} : { traceparent }),
    ...(more === 0 ? {} : { more: `${more} equal ones before it were not kept` }),
  };
}

function answerOf({ status, complete }: Explained): string {
  if (status === 499) return '499, the caller left before it';
  return complete ? `${status}` : `${status}, broken off`;
}

function bodyInWords({ declared, received }: Explained['body']): string {
  return declared === null || declared === received
    ? `${received} bytes`
    : `${received} of ${declared} bytes came before the answer`;
}

/** A line for each step; those behind the one that ended the request were not reached. */
function stepsOf(request: Explained): Record<string, string> {
  const steps = stepsAsked(request);
  const ended = request.step === null ? steps.length : steps.indexOf(request.step as (typeof STEPS)[number]);
  return Object.fromEntries(
    steps.map((step, i) => {
      if (i > ended) return [step, 'not reached'];
      const mark = i < ended ? '' : request.status < 500 ? 'REFUSED: ' : 'FAILED: ';
      return [step, `${mark}${WORDS[step]!(request)}`];
    }),
  );
}

function stepsAsked({ operation, path, key, step }: Explained): readonly string[] {
  // An operation of the contract, which has a path, may have any name.
  if (path === null && Object.hasOwn(OWN, operation)) return OWN[operation]!;
  // Whoever gets so far without a key asks before a page's request (CORS).
  return key === null && step === null ? ['door', 'preflight'] : STEPS;
}

const WORDS: Readonly<Record<string, (request: Explained) => string>> = {
  door: ({ step, code }) => (step === 'door' ? `${code}` : 'taken'),
  preflight: () => 'answered by the gateway itself, needs no key',
  pages: ({ step, code }) => (step === 'pages' ? `${code}` : 'answered by the gateway itself'),
  usage: ({ step, code }) => (step === 'usage' ? `${code}` : 'answered by the gateway itself'),
  authenticate({ step, code, key, times, outage }) {
    const who = key === null ? 'no key was found' : `${key.id} of ${key.account}, plan ${key.plan}`;
    return step === 'authenticate'
      ? `${code}; ${who}${outageInWords(outage)}`
      : `${who}${after(times.authenticated, 0)}`;
  },
  admit({ decision, code, outage, times, method }) {
    if (decision === null)
      return code === null || method === 'OPTIONS' ? 'nothing to charge' : `${code}${outageInWords(outage)}`;
    return `${decisionInWords(decision)}${after(times.admitted, times.authenticated)}`;
  },
  contract({ step, code, operation, times }) {
    if (step === 'contract') return `${code}`;
    const fits = operation.startsWith('mount ') ? 'a mount, which has none' : 'fits';
    return `${fits}${after(times.forwarded, times.admitted)}`;
  },
  store({ store, status, code, outage, step, times }) {
    if (store === null) return 'not asked';
    const tries = store.attempts > 1 ? `asked ${store.attempts} times; ` : '';
    const answered = step === 'store' && code !== null ? `${code}${outageInWords(outage)}` : `answered ${status}`;
    return `${tries}${answered}${after(times.answered, times.forwarded)}`;
  },
};

/** What a step took, where it is known. */
function after(at: number | null, before: number | null): string {
  return at === null || before === null ? '' : ` (${(at - before).toFixed(3)} ms)`;
}

function outageInWords(outage: string | null): string {
  return outage === null ? '' : `, ${outage}`;
}

const BY = {
  state: '',
  memory: ', known from an earlier refusal',
  alone: ', decided without the shared state, which was away',
} as const;

function decisionInWords(decision: Decision): string {
  const { verdict, by, cost, violated, retryAt, retryAfter, strikes, strikesToBan, bannedUntil, banBegan, rung } =
    decision;
  if (verdict === 'admitted') return `admitted, ${cost} ${cost === 1 ? 'unit' : 'units'}${BY[by]}`;
  const ban = bannedUntil === null ? '' : ` until ${bannedUntil}`;
  const parts = [
    verdict === 'banned' ? `banned${ban}` : `limited`,
    ...(banBegan ? [`the ban began with this request${rung === null ? '' : `, rung ${rung}`}`] : []),
    ...(violated === null ? [] : [`nothing is left of ${violated} for ${cost} ${cost === 1 ? 'unit' : 'units'}`]),
    ...(strikesToBan === null || verdict === 'banned' ? [] : [`${strikes} of ${strikesToBan} strikes`]),
    `try again at ${retryAt}, in ${retryAfter} s`,
  ];
  return `${parts.join('; ')}${BY[by]}`;
}

function faultsInWords({ side, reportOnly, count, faults }: Faults): string {
  const whose = side === 'request' ? 'the request' : 'the answer of the store';
  const head = `${count === 1 ? '1 fault' : `${count} faults`} of ${whose}${reportOnly ? ', only reported' : ''}:\n`;
  const left = count - faults.length;
  return [
    head,
    ...faults.map(
      // Pointers have names that a caller chose.
      ({ in: place, pointer, rule }) =>
        `${textOf(`  ${place} ${pointer === '' ? '(as a whole)' : pointer}: ${rule}`)}\n`,
    ),
    ...(left > 0 ? [`  and ${left} more\n`] : []),
  ].join('');
}
