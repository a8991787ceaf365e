import {
  BodyStream,
  type ClientConnection,
  type ClientError,
  type ClientRequest,
  type ClientResponse,
  type Pool,
  PoolBusy,
  type ResponseReceiver,
  type Waiter,
} from '@storegate/http1';
import { Outage } from '../../common/errors/outage.ts';
import type { Observe } from '../../observe/events.ts';
import type { Exchange } from '../exchange.ts';
import { ClientAbort } from '../wire/client-abort.ts';
import type { ReturnedNames } from '../wire/fields.ts';
import { halfOpen, watched } from './attempts.ts';
import type { BackendResponse } from './backend-response.ts';
import { returnedHeaders } from './headers.ts';
import { isIdempotent } from './retries.ts';
import {
  type BackendHandle,
  BackendWentDown,
  outageOf,
  type Upstream,
} from './upstream.ts';

/** Rejects with Outage, Refusal or ClientAbort. */
export type Send = (
  exchange: Exchange,
  request: ClientRequest,
) => Promise<BackendResponse>;

interface UpstreamRequestParts {
  readonly upstream: Upstream;
  readonly observe: Observe;
  readonly returned: ReturnedNames;
  readonly exchange: Exchange;
  readonly request: ClientRequest;
}

/**
 * Resolves when the head of the response has arrived, with the whole body if one read holds both.
 * Rejects with Outage or ClientAbort.
 */
export function sendUpstream(
  parts: UpstreamRequestParts,
): Promise<BackendResponse> {
  return new Promise((resolve, reject) =>
    new UpstreamRequest(parts, resolve, reject).begin(),
  );
}

const NONE: readonly BackendHandle[] = [];

class UpstreamRequest implements ResponseReceiver, Waiter {
  readonly #parts: UpstreamRequestParts;
  readonly #request: ClientRequest;
  readonly #resolve: (response: BackendResponse) => void;
  readonly #reject: (error: unknown) => void;
  #backend: BackendHandle | null = null;
  #epoch = 0;
  #tried: readonly BackendHandle[] = NONE;
  #begun = false;
  #judged = false;
  #repeated = false;
  #retries = 0;

  constructor(
    parts: UpstreamRequestParts,
    resolve: (response: BackendResponse) => void,
    reject: (error: unknown) => void,
  ) {
    this.#parts = parts;
    this.#request =
      parts.request.upgraded === undefined
        ? parts.request
        : this.#watching(parts.request);
    this.#resolve = resolve;
    this.#reject = reject;
  }

  begin(): void {
    this.#giveTo(this.#choose(this.#parts.exchange.forwardedAt));
  }

  /** Not retried from here on. */
  begun(): void {
    this.#begun = true;
    this.#parts.exchange.respondedAt = performance.now();
  }

  receive({ status, reason, minor, fields, body }: ClientResponse): void {
    const { exchange, returned } = this.#parts;
    if (body instanceof BodyStream) this.#judgeAtEnd(status, body);
    else {
      this.#judged = true;
      this.#backend!.responded(status, this.#epoch, exchange.respondedAt);
      exchange.cancel = null;
    }
    this.#resolve({
      status,
      reason,
      headers: returnedHeaders(fields, status, returned, minor),
      body,
    });
  }

  fail(error: ClientError): void {
    const { exchange, upstream } = this.#parts;
    const backend = this.#backend!;
    exchange.cancel = null;
    if (this.#mayRepeat(error)) {
      this.#repeated = true;
      backend.cancelled(this.#epoch);
      this.#sendAgain(backend, error);
      return;
    }
    // A connection that was about to be closed as idle is no sign of a fault.
    if (error.failure === 'body' || error.diedIdle)
      backend.cancelled(this.#epoch);
    else backend.failed(error, this.#epoch);
    const { method, upgraded } = this.#request;
    const mayRetry =
      this.#canBeSentAgain && !this.#begun && !exchange.call.left;
    // The backend may have begun a WebSocket.
    const isHarmless =
      upgraded === undefined || error.failure === 'unreachable';
    if (
      mayRetry &&
      isHarmless &&
      upstream.mayRetry(error, method, this.#retries)
    )
      this.#retry(backend, error);
    else this.#reject(outageOf(error));
  }

  detach(): void {
    const { exchange } = this.#parts;
    if (exchange.call.left) return;
    exchange.cancel = null;
    this.#giveTo(this.#chooseOther());
  }

  waits(leave: () => void): void {
    this.#parts.exchange.cancel = () => {
      leave();
      this.#reject(new ClientAbort());
    };
  }

  #choose(now: number): BackendHandle | Outage {
    return this.#parts.upstream.choose(
      now,
      this.#isSafe,
      this.#tried,
      this.#operation,
    );
  }

  #chooseOther(now = performance.now()): BackendHandle | Outage {
    this.#tried = [...this.#tried, this.#backend!];
    return this.#choose(now);
  }

  #giveTo(next: BackendHandle | Outage): void {
    if (next instanceof Outage) {
      this.#lose(next);
      return;
    }
    this.#backend = next;
    try {
      const taken = this.#poolOf(next).take(
        this.#parts.exchange.client?.owner,
        this,
        this.#streams,
      );
      if (taken instanceof Promise)
        taken
          .then((connection) => this.#sendOn(next, connection))
          .catch((error) => this.#lose(error));
      else this.#sendOn(next, taken);
    } catch (error) {
      this.#lose(error);
    }
  }

  #sendOn(backend: BackendHandle, connection: ClientConnection): void {
    const { exchange } = this.#parts;
    const request = this.#request;
    if (!connection.isOpen) {
      this.#lose(new BackendWentDown());
      return;
    }
    if (exchange.call.left) {
      this.#poolOf(backend).release(connection);
      this.#reject(new ClientAbort());
      return;
    }
    const { isTrial } = backend;
    const { span } = exchange;
    const epoch = backend.begin(this.#operation);
    this.#epoch = epoch;
    exchange.backend = backend.identity;
    exchange.cancel = () => {
      connection.cancel(request);
      if (!this.#judged) backend.cancelled(epoch);
      this.#reject(new ClientAbort());
    };
    try {
      const taker =
        isTrial && this.#isSafe
          ? halfOpen(this, { backend, epoch, connection, request })
          : this;
      connection.ask(
        request,
        span === null ? taker : watched(span, request.fields, backend, taker),
      );
    } catch (error) {
      // Not the connection's fault.
      backend.cancelled(epoch);
      this.#poolOf(backend).release(connection);
      throw error;
    }
  }

  /** Nothing was sent. */
  #lose(error: unknown): void {
    const { exchange } = this.#parts;
    exchange.cancel = null;
    const mayElsewhere =
      error instanceof BackendWentDown ||
      (error instanceof PoolBusy && !error.isLate);
    if (
      !mayElsewhere ||
      exchange.call.left ||
      this.#tried.includes(this.#backend!)
    ) {
      this.#reject(outageOf(error));
      return;
    }
    const next = this.#chooseOther();
    if (next instanceof Outage && !(error instanceof BackendWentDown))
      this.#reject(outageOf(error));
    else this.#giveTo(next);
  }

  #poolOf({ pool, tunnels }: BackendHandle): Pool {
    return this.#request.upgraded === undefined ? pool : tunnels;
  }

  get #operation(): string {
    return this.#parts.exchange.route ?? '';
  }

  get #isSafe(): boolean {
    const { method, body, upgraded } = this.#request;
    return (
      body === null &&
      upgraded === undefined &&
      (method === 'GET' || method === 'HEAD')
    );
  }

  get #streams(): boolean {
    const { body } = this.#request;
    return body !== null && 'readBody' in body;
  }

  /** A streamed body is consumed. */
  get #canBeSentAgain(): boolean {
    return !this.#streams;
  }

  /**
   * Once, for a connection that had been closed as idle: the backend cannot have responded on it.
   */
  #mayRepeat({ diedIdle, cause }: ClientError): boolean {
    const { exchange } = this.#parts;
    return (
      diedIdle &&
      !(cause instanceof Outage) &&
      !this.#repeated &&
      isIdempotent(this.#request.method) &&
      this.#canBeSentAgain &&
      !exchange.call.left
    );
  }

  #retry(backend: BackendHandle, error: ClientError): void {
    const { upstream, observe } = this.#parts;
    const now = performance.now();
    const next = this.#chooseOther(now);
    if (next instanceof Outage) {
      this.#reject(outageOf(error));
      return;
    }
    if (!upstream.takeRetry(now)) {
      observe({ type: 'retry.refused', upstream: backend.identity.upstream });
      this.#reject(outageOf(error));
      return;
    }
    this.#retries++;
    backend.retried();
    this.#sendAgain(next, error, backend);
  }

  #sendAgain(next: BackendHandle, error: Error, failed = next): void {
    const { exchange, observe } = this.#parts;
    const { upstream, backend } = failed.identity;
    observe({ type: 'retry', id: exchange.id, upstream, backend, error });
    this.#giveTo(next);
  }

  /** An upgrade counts as a good response. */
  #watching(request: ClientRequest): ClientRequest {
    return {
      ...request,
      upgraded: (tunnel) => {
        const { exchange } = this.#parts;
        this.#judged = true;
        exchange.cancel = null;
        this.#backend!.responded(101, this.#epoch, exchange.respondedAt);
        request.upgraded!(tunnel);
      },
    };
  }

  /** However good its head was. */
  #judgeAtEnd(status: number, body: BodyStream): void {
    const [backend, epoch] = [this.#backend!, this.#epoch];
    backend.begun(status, epoch, this.#parts.exchange.respondedAt);
    body.watch({
      end: () => {
        this.#judged = true;
        backend.responded(status, epoch, performance.now());
      },
      fail: (error) => {
        this.#judged = true;
        backend.failed(error as ClientError, epoch);
        return outageOf(error);
      },
    });
  }
}
