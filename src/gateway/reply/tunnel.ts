import type { Tunnel } from '@storegate/http1';
import type { Exchange } from '../exchange.ts';
import { returnedHeaders } from '../upstream/headers.ts';
import type { ReturnedNames } from '../wire/fields.ts';
import type { Reply } from './reply.ts';

/** Milliseconds after which a half-closed WebSocket is closed. */
const SILENCE = 1_000;

/** Joins the connections of the client and of the backend after a 101 response. */
export type JoinTunnel = (exchange: Exchange, tunnel: Tunnel) => void;

export function createJoinTunnel(
  reply: Reply,
  returned: ReturnedNames,
): JoinTunnel {
  /** The other side may finish sending, but not stay silent. */
  return function joinTunnel(exchange, { reason, fields, socket: far, rest }) {
    const lines = reply.fields(exchange);
    lines.addRead(returnedHeaders(fields, 101, returned));
    lines.addAll(['Connection', 'Upgrade', 'Upgrade', 'websocket']);
    exchange.respondedAt = performance.now();
    const { socket: near, rest: early } = exchange.call.switchProtocols(
      reason,
      lines,
    );
    if (rest !== null) near.write(rest);
    if (early !== null) far.write(early);
    near.pipe(far);
    far.pipe(near);
    for (const side of [near, far])
      side.once('end', () => near.setTimeout(SILENCE, () => near.destroy()));
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
  };
}
