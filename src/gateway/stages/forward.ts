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
  function requestedBy(
    exchange: Exchange,
    { client, target, route, body }: Checked,
  ): ClientRequest {
    const { rewriting, operation, headersTimeout } = route;
    const { method } = exchange.call;
    const request =
      rewriting === null ? target.raw : rewriting.targetOf(target);
    const fields = requestFields(
      exchange,
      client,
      plainResponses && operation !== null,
    );
    if (rewriting !== null && rewriting.prefix !== '')
      fields.add('X-Forwarded-Prefix', rewriting.prefix);
    return { method, target: request, fields, body, headersTimeout };
  }

  function send(
    exchange: Exchange,
    { route }: Checked,
    request: ClientRequest,
  ): Promise<BackendResponse> {
    exchange.forwardedAt = performance.now();
    const stored = route.send(exchange, request);
    const rewritten = route.rewriting?.response ?? null;
    return rewritten === null ? stored : stored.then(rewritten);
  }

  const forward: Forward = (exchange, checked) =>
    send(exchange, checked, requestedBy(exchange, checked));

  const tunnel: ForwardTunnel = (exchange, checked) =>
    new Promise((resolve, reject) => {
      const request: ClientRequest = {
        ...requestedBy(exchange, checked),
        upgraded(tunnel) {
          joinTunnel(exchange, tunnel);
          resolve(null);
        },
      };
      send(exchange, checked, request).then(resolve, reject);
    });

  return { forward, tunnel };
}
