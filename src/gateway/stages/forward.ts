import type { ClientRequest } from '@storegate/http1';
import type { Exchange } from '../exchange.ts';
import type { JoinTunnel } from '../reply/tunnel.ts';
import type { Checked } from '../results.ts';
import type { BackendResponse } from '../upstream/backend-response.ts';
import type { RequestFields } from '../upstream/headers.ts';

/** Rejects with Outage, Refusal or ClientAbort. */
export type Forward = (
  exchange: Exchange,
  checked: Checked,
) => Promise<BackendResponse>;

/** `null`: the connection was handed over. Rejects as `Forward`. */
export type ForwardTunnel = (
  exchange: Exchange,
  checked: Checked,
) => Promise<BackendResponse | null>;

interface ForwardParts {
  readonly requestFields: RequestFields;
  readonly joinTunnel: JoinTunnel;
  /** The gateway reads responses that the contract describes. */
  readonly plainResponses: boolean;
}

export function createForward({
  requestFields,
  joinTunnel,
  plainResponses,
}: ForwardParts) {
  function askedBy(
    exchange: Exchange,
    { client, target, route, body }: Checked,
  ): ClientRequest {
    const { rewriting, operation } = route;
    const asked = rewriting === null ? target.raw : rewriting.asked(target);
    const fields = requestFields(
      exchange,
      client,
      plainResponses && operation !== null,
    );
    if (rewriting !== null && rewriting.prefix !== '')
      fields.add('X-Forwarded-Prefix', rewriting.prefix);
    return { method: exchange.call.method, target: asked, fields, body };
  }

  function send(
    exchange: Exchange,
    { route }: Checked,
    asked: ClientRequest,
  ): Promise<BackendResponse> {
    exchange.forwardedAt = performance.now();
    const stored = route.send(exchange, asked);
    const rewritten = route.rewriting?.response ?? null;
    return rewritten === null ? stored : stored.then(rewritten);
  }

  const forward: Forward = (exchange, checked) =>
    send(exchange, checked, askedBy(exchange, checked));

  const tunnel: ForwardTunnel = (exchange, checked) =>
    new Promise((resolve, reject) => {
      const asked: ClientRequest = {
        ...askedBy(exchange, checked),
        upgraded(tunnel) {
          joinTunnel(exchange, tunnel);
          resolve(null);
        },
      };
      send(exchange, checked, asked).then(resolve, reject);
    });

  return { forward, tunnel };
}
