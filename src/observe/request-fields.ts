import { createCache } from '../common/cache.ts';
import type { RequestEvent, RequestTrace } from './events.ts';

type Outcome = Pick<
  RequestEvent,
  'method' | 'api' | 'status' | 'complete' | 'code' | 'verdict' | 'nearLimit'
>;
type Owner = Pick<RequestEvent, 'account' | 'plan'>;

interface Text {
  readonly text: string;
}

/** Operations and keys whose last text is kept: at least so many, at most twice as many. */
const KEPT = 1_000;

/**
 * The fields of the line of a request, as the inside of a JSON object. Most requests of an
 * operation, and of a key, share the text of the one before.
 */
export function createRequestFields(): (event: RequestEvent) => string {
  const outcomes = createCache<Outcome & Text>(KEPT);
  const owners = createCache<Owner & Text>(KEPT);

  return (event) => {
    const { id, address, duration, upstream, trace } = event;
    const named = `"id":${json(id)}`;
    const shared = `${outcomeOf(event)},${ownerOf(event)}`;
    const own = `"address":${json(address)},"duration":${milliseconds(duration)},"upstream":${milliseconds(upstream)}`;
    return `${named},${shared},${own}${trace === undefined ? '' : moreIn(trace)}`;
  };

  function outcomeOf(event: RequestEvent): string {
    const { method, api, status, complete, code, verdict, nearLimit } = event;
    const last = outcomes.get(event.operation);
    if (
      last !== undefined &&
      last.method === method &&
      last.api === api &&
      last.status === status &&
      last.complete === complete &&
      last.code === code &&
      last.verdict === verdict &&
      last.nearLimit === nearLimit
    )
      return last.text;
    const ofApi = api === null ? '' : `,"api":${json(api)}`;
    const route = `"method":${json(method)}${ofApi},"operation":${json(event.operation)}`;
    const text = `${route},"status":${status},"complete":${complete},"code":${json(code)},"verdict":${json(verdict)},"nearLimit":${nearLimit}`;
    const outcome = { method, api, status, complete, code, verdict, nearLimit };
    outcomes.set(event.operation, { ...outcome, text });
    return text;
  }

  function ownerOf({ keyId, account, plan }: RequestEvent): string {
    const last = owners.get(keyId ?? '');
    if (last !== undefined && last.account === account && last.plan === plan)
      return last.text;
    const text = `"keyId":${json(keyId)},"account":${json(account)},"plan":${json(plan)}`;
    owners.set(keyId ?? '', { account, plan, text });
    return text;
  }
}

const json = JSON.stringify;

const DECIMALS = Array.from({ length: 1_000 }, (_, i) =>
  String(i).padStart(3, '0'),
);

/** To the microsecond. Text of whole numbers is faster than that of fractions. */
function milliseconds(duration: number | null): string {
  if (duration === null) return 'null';
  const microseconds = Math.round(duration * 1_000);
  return `${Math.floor(microseconds / 1_000)}.${DECIMALS[microseconds % 1_000]}`;
}

/** The trace id in a traceparent. */
const TRACE_ID = { from: 3, to: 35 } as const;

function moreIn(trace: RequestTrace): string {
  const { faults, faultCount, traceparent, reason, reported, backend } = trace;
  let text = '';
  if (backend !== null && !backend.isSole)
    text += `,"backend":${json(backend.backend)}`;
  if (reason !== null) text += `,"reason":${json(reason)}`;
  if (reported != null) text += `,"reported":${json(reported)}`;
  if (faults !== null)
    text += `,"faults":${json(faults)},"faultCount":${faultCount}`;
  if (traceparent !== null) {
    const traceId = traceparent.slice(TRACE_ID.from, TRACE_ID.to);
    text += `,"traceId":${json(traceId)},"traceparent":${json(traceparent)}`;
  }
  return text;
}
