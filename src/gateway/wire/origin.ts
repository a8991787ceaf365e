import type { Exchange } from '../exchange.ts';

type Received = Pick<Exchange, 'call' | 'head' | 'behindProxy'>;

/** As the client used it: a trusted proxy reports it. */
export function schemeOf({ call, head, behindProxy }: Received) {
  const { forwardedProto } = head;
  if (behindProxy && (forwardedProto === 'https' || forwardedProto === 'http'))
    return forwardedProto;
  return call.secure ? 'https' : 'http';
}

/** With its colon; empty: that of the scheme. */
export function portOf({ head, behindProxy }: Received): string {
  const host = behindProxy ? (head.forwardedHost ?? head.host) : head.host;
  return /:\d{1,5}$/.exec(host ?? '')?.[0] ?? '';
}
