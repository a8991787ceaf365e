import type { ClientRequest, StreamedBody, Tunnel } from '@storegate/http1';
import type { Mount } from '../../config/config.ts';
import type { Observe } from '../../observe/events.ts';
import type { Exchange } from '../exchange.ts';
import type { Answer } from '../reply/answer.ts';
import type { Admitted, Target } from '../results.ts';
import type { Call } from '../wire/call.ts';
import type { ReturnedNames } from '../wire/fields.ts';
import { bodyFailure, tooLarge } from '../wire/wire-refusals.ts';
import { type RequestFields, returnedHeaders } from './headers.ts';
import { createInnerProxy, type Send } from './inner-proxy.ts';
import type { Timeouts } from './pools.ts';
import { createRewriting } from './rewriting.ts';
import type { StoreResponse } from './store-response.ts';
import type { Stores } from './stores.ts';
import { sendUpstream } from './upstream-request.ts';

export type Mounts = ReturnType<typeof createMounts>;

export interface MountsOptions {
  readonly mounts: readonly Mount[];
  readonly upstreamOf: (name: string) => Stores;
  readonly storesOf: (name: string) => readonly string[];
  readonly timeouts: Timeouts;
  readonly maxBodyBytes: number;
  readonly answer: Answer;
  readonly observe: Observe;
  readonly requestFields: RequestFields;
  readonly returned: ReturnedNames;
}

/** Milliseconds after which a half-closed WebSocket is closed. */
const SILENCE = 1_000;

export function createMounts(options: MountsOptions) {
  const { mounts, upstreamOf, storesOf, timeouts, maxBodyBytes, answer, observe } = options;
  const { requestFields, returned } = options;
  const ways = new Map<Mount, Send>(mounts.map((mount) => [mount, wayTo(mount)]));
  const takesTunnels = mounts.some(({ websocket }) => websocket);

  function wayTo(mount: Mount): Send {
    const { target, upstream } = mount;
    const send =
      target === null ? sendTo(upstreamOf(upstream!)) : createInnerProxy(target, { timeouts, observe, returned });
    const rewriting = createRewriting(mount, target === null ? storesOf(upstream!) : [target]);
    if (rewriting === null) return send;
    return (exchange, asked) => send(exchange, rewriting.asked(asked)).then(rewriting.answered);
  }

  function sendTo(upstream: Stores): Send {
    return (exchange, asked) => sendUpstream({ upstream, observe, returned, exchange, asked });
  }

  function requestOf(
    exchange: Exchange,
    client: Admitted,
    { path, query }: Target,
    body: StreamedBody | null,
  ): ClientRequest {
    exchange.forwardedAt = performance.now();
    const target = query === '' ? path : `${path}?${query}`;
    return { method: exchange.call.method, target, fields: requestFields(exchange, client), body };
  }

  return {
    forward(exchange: Exchange, client: Admitted, target: Target, mount: Mount): Promise<StoreResponse> {
      const { call, head } = exchange;
      if (call.bodyError) throw bodyFailure(call.bodyError);
      if (head.expect !== undefined) call.sendContinue();
      const body = call.hasBody ? bounded(call, maxBodyBytes) : null;
      return ways.get(mount)!(exchange, requestOf(exchange, client, target, body));
    },
    takesTunnel: ({ call, head: { upgrade, upgrades } }: Exchange): boolean =>
      upgrades && upgrade === 'websocket' && call.minor > 0 && takesTunnels,
    /** `null`: the connection was handed over. Rejects as `forward`. */
    tunnel(exchange: Exchange, client: Admitted, target: Target, mount: Mount): Promise<StoreResponse | null> {
      return new Promise((resolve, reject) => {
        const asked: ClientRequest = {
          ...requestOf(exchange, client, target, null),
          upgraded: (tunnel) => {
            join(exchange, tunnel);
            resolve(null);
          },
        };
        ways.get(mount)!(exchange, asked).then(resolve, reject);
      });
    },
  };

  /** The other side may finish sending, but not stay silent. */
  function join(exchange: Exchange, { reason, fields, socket: far, rest }: Tunnel): void {
    const lines = answer.fields(exchange);
    lines.addRead(returnedHeaders(fields, 101, returned));
    lines.addAll(['Connection', 'Upgrade', 'Upgrade', 'websocket']);
    exchange.answeredAt = performance.now();
    const { socket: near, rest: early } = exchange.call.switchProtocols(reason, lines);
    if (rest !== null) near.write(rest);
    if (early !== null) far.write(early);
    near.pipe(far);
    far.pipe(near);
    for (const side of [near, far]) side.once('end', () => near.setTimeout(SILENCE, () => near.destroy()));
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
  }
}

/** A chunked body is measured as it arrives. */
function bounded(call: Call, most: number): StreamedBody {
  return {
    length: call.framing === 'chunked' ? null : call.framing,
    readBody(sink) {
      let size = 0;
      call.readBody({
        chunk(bytes) {
          size += bytes.length;
          if (size <= most) return sink.chunk(bytes);
          call.dropBody();
          sink.fail(tooLarge(most));
          return true;
        },
        end: () => sink.end(),
        fail: (error) => sink.fail(error),
      });
    },
    resumeBody: () => call.resumeBody(),
  };
}
