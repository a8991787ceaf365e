import type { Observe } from '../../observe/events.ts';
import type { Destination } from '../routes.ts';
import type { ReturnedNames } from '../wire/fields.ts';
import { createInnerProxy } from './inner-proxy.ts';
import type { Timeouts } from './pools.ts';
import type { Upstream } from './upstream.ts';
import { type Send, sendUpstream } from './upstream-request.ts';

interface SendsParts {
  readonly upstreamOf: (name: string) => Upstream;
  readonly timeouts: Timeouts;
  readonly observe: Observe;
  readonly returned: ReturnedNames;
}

/** One way to each upstream. Each mount with a target has its own connections. */
export function createSends({
  upstreamOf,
  timeouts,
  observe,
  returned,
}: SendsParts): (to: Destination) => Send {
  const toUpstreams = new Map<string, Send>();

  function toUpstream(name: string): Send {
    const known = toUpstreams.get(name);
    if (known !== undefined) return known;
    const upstream = upstreamOf(name);
    const send: Send = (exchange, asked) =>
      sendUpstream({ upstream, observe, returned, exchange, asked });
    toUpstreams.set(name, send);
    return send;
  }

  return ({ target, upstream }) =>
    target === null
      ? toUpstream(upstream!)
      : createInnerProxy(target, { timeouts, observe, returned });
}
