import type { Admission } from '../../limits/admission.ts';
import type { Ladder } from '../../limits/limits.ts';
import type { Observe } from '../../observe/events.ts';
import type { Eventually, State } from '../../state/state.ts';
import type { Exchange } from '../exchange.ts';
import { retryAfter, wholeSeconds } from '../reply/headers.ts';
import { Refusal } from '../reply/refusals.ts';
import type { KnownClient } from './authenticate.ts';

const DAY = 86_400_000;
/** Sent with the last 429 before a ban. */
const BAN_WARNING = ['X-Ban-Warning', 'strikes-left=1'];

/**
 * Charges `cost` units to the client's windows, or refuses: 429 limited, 403 banned. One step of the state. The refusal is
 * returned, not thrown: see `pipeline.ts`.
 */
export type Admit = (exchange: Exchange, client: KnownClient, cost: number) => Eventually<Admission | Refusal>;

export function createAdmit({ state, observe }: { state: State; observe: Observe }): Admit {
  const spell = speller();

  return function admit(exchange, client, cost) {
    const asked = state.admit(client.subject, client.limits, cost);
    return asked instanceof Promise
      ? asked.then((admission) => judge(exchange, client, admission))
      : judge(exchange, client, asked);
  };

  function judge(exchange: Exchange, client: KnownClient, admission: Admission): Admission | Refusal {
    exchange.standing = admission;
    exchange.verdict = admission.verdict;
    if (admission.verdict === 'admitted') return admission;
    if (admission.banBegins) {
      observe({ type: 'ban', id: exchange.id, keyId: client.keyId, plan: client.plan, until: admission.bannedUntil });
    }
    return admission.verdict === 'banned'
      ? banned(admission, spell(admission.bannedUntil))
      : limited(admission, client.limits.ladder);
  }
}

function limited(admission: Admission, ladder: Ladder | null): Refusal {
  const { limit, name, span } = admission.violated!;
  const wait = wholeSeconds(admission.retryAt - admission.now);
  const lastWarning = ladder !== null && admission.strikes === ladder.strikes - 1;
  const warning = lastWarning ? 'the next request before that bans this key.' : 'sending on leads to a ban.';
  return new Refusal(span >= DAY ? 'daily_quota_exceeded' : 'rate_limit_exceeded', {
    message: `The limit of ${limit} per ${name} is reached. Try again in ${seconds(wait)}, and not before: ${warning}`,
    headers: [...retryAfter(admission.retryAt, admission.now), ...(lastWarning ? BAN_WARNING : [])],
  });
}

function banned(admission: Admission, until: string): Refusal {
  return new Refusal('key_banned', {
    message: `This key is banned until ${until}. Wait until then; a key that goes on sending after 429 is banned longer each time.`,
    headers: retryAfter(admission.retryAt, admission.now),
  });
}

/** Spells instants, in UTC and rounded up to whole seconds. A flood from one banned key asks for the same one again and again. */
function speller(): (at: number) => string {
  let last = Number.NaN;
  let text = '';
  return (at) => {
    if (at !== last) {
      last = at;
      text = new Date(Math.ceil(at / 1000) * 1000).toISOString().replace('.000Z', 'Z');
    }
    return text;
  };
}

function seconds(count: number): string {
  return count === 1 ? '1 second' : `${count} seconds`;
}
