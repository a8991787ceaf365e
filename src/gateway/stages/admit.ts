import { Refusal } from '../../common/errors/refusals.ts';
import { nextSecond, wholeSeconds } from '../../common/errors/retry-after.ts';
import type { MaybePromise } from '../../common/maybe-promise.ts';
import { DAY } from '../../common/time.ts';
import type { Admission } from '../../limits/admission.ts';
import type { Window } from '../../limits/limits.ts';
import { formatScope } from '../../limits/scopes.ts';
import type { Observe } from '../../observe/events.ts';
import type { BanRecorder } from '../../records/ban-recorder.ts';
import { type State, startedBan } from '../../state/state.ts';
import type { Exchange } from '../exchange.ts';
import type { Admitted, KnownClient } from '../results.ts';
import { ClientAbort } from '../wire/client-abort.ts';
import { type BanWarning, banWarning } from './ban-warning.ts';

/**
 * One step of the state. Returns the refusal, see `pipeline.ts`. Throws ClientAbort if the client has
 * disconnected.
 */
export type Admit = (
  exchange: Exchange,
  client: KnownClient,
  cost: number,
) => MaybePromise<Admitted | Refusal>;

/** Returns the refusal of an admission, and reports a ban that begins with it. */
export type Judge = (
  exchange: Exchange,
  client: KnownClient,
  admission: Admission,
) => Admitted | Refusal;

interface AdmitParts {
  readonly state: Pick<State, 'admit'>;
  readonly judge: Judge;
}

export function createAdmit({ state, judge }: AdmitParts): Admit {
  return function admit(exchange, client, cost) {
    // Its event is reported already, so nothing may be charged.
    if (exchange.call.left) throw new ClientAbort();
    exchange.cost = cost;
    const { scopes } = exchange;
    const pending = state.admit(client.subject, client.limits, cost, scopes);
    if (!(pending instanceof Promise)) return judge(exchange, client, pending);
    const deciding = pending.then((admission) =>
      judge(exchange, client, admission),
    );
    exchange.deciding = deciding;
    return deciding;
  };
}

interface JudgeParts {
  readonly bans: Pick<BanRecorder, 'note' | 'begun'>;
  readonly observe: Observe;
}

export function createJudge({ bans, observe }: JudgeParts): Judge {
  const limited = keepingLast(limitedBy);
  const banned = keepingLast(bannedUntil);

  return function judge(exchange, client, admission) {
    exchange.usage = admission;
    exchange.admission = admission;
    exchange.admittedAt = performance.now();
    // No request allocates another object.
    if (admission.verdict === 'admitted') return client as object as Admitted;
    if (admission.banBegins) reportBan(exchange, client, admission);
    else if (admission.verdict === 'limited' && admission.strikes > 0)
      bans.note(client.subject, client.plan, exchange.route, exchange.id);
    const wait = wholeSeconds(admission.retryAt - admission.now);
    if (admission.verdict === 'banned')
      return banned(
        admission.bannedUntil,
        wait,
        client.subject.startsWith('account:'),
      );
    const { escalation } = client.limits;
    const warning = banWarning(escalation, admission);
    return limited(admission.violated!, wait, warning, exchange.cost);
  };

  function reportBan(
    exchange: Exchange,
    client: KnownClient,
    admission: Admission,
  ): void {
    const { keyId, plan, subject, limits } = client;
    observe({
      type: 'ban',
      id: exchange.id,
      keyId,
      plan,
      until: admission.bannedUntil,
    });
    const ban = startedBan(subject, limits, admission);
    if (ban)
      bans.begun(ban, {
        plan,
        operation: exchange.route,
        requestId: exchange.id,
      });
  }
}

/** All requests of a flood share the refusal for a second. */
export function keepingLast<A, B, C, D>(
  make: (a: A, b: B, c: C, d?: D) => Refusal,
): (a: A, b: B, c: C, d?: D) => Refusal {
  let last: {
    readonly a: A;
    readonly b: B;
    readonly c: C;
    readonly d: D | undefined;
    readonly refusal: Refusal;
  } | null = null;
  return (a, b, c, d) => {
    if (last?.a !== a || last.b !== b || last.c !== c || last.d !== d)
      last = { a, b, c, d, refusal: make(a, b, c, d) };
    return last.refusal;
  };
}

function limitedBy(
  { limit, name, span, scope }: Window,
  wait: number,
  { clause, headers }: BanWarning,
  cost = 1,
): Refusal {
  const where = scope === undefined ? '' : ` ${formatScope(scope)}`;
  const which = `Limit of ${limit} per ${name}${where}`;
  const by = cost > 1 ? ` by a request of ${cost} units` : '';
  return new Refusal(
    span >= DAY ? 'daily_quota_exceeded' : 'rate_limit_exceeded',
    {
      message:
        cost > limit
          ? `${which} never admits a request of ${cost} units: ask the API operator for a higher limit.${sentence(clause)}`
          : `${which} exceeded${by}: retry after ${seconds(wait)}.${sentence(clause)}`,
      headers: ['Retry-After', `${wait}`, ...headers],
    },
  );
}

/** `end`: Unix milliseconds. */
function bannedUntil(end: number, wait: number, isAccount: boolean): Refusal {
  const until = new Date(nextSecond(end)).toISOString().replace('.000Z', 'Z');
  const [who, they, them] = isAccount
    ? ['All keys of this account are', 'they', 'them']
    : ['This API key is', 'it', 'it'];
  return new Refusal('key_banned', {
    message: `${who} banned until ${until}, because ${they} kept sending after 429 or an operator banned ${them}. Wait until then: repeated violations increase the ban duration.`,
    headers: ['Retry-After', `${wait}`],
  });
}

function sentence(clause: string): string {
  return clause && ` ${clause[0]!.toUpperCase()}${clause.slice(1)}.`;
}

function seconds(count: number): string {
  return count === 1 ? '1 second' : `${count} seconds`;
}
