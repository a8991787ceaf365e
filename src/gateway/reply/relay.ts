import { type BodySink, BodyStream } from '@storegate/http1';
import type { Holding, SharedBudget } from '../../common/shared-budget.ts';
import type { Exchange } from '../exchange.ts';
import type { BackendResponse } from '../upstream/backend-response.ts';
import type { Reply } from './reply.ts';

export type Relay = (exchange: Exchange, stored: BackendResponse) => void;

/**
 * While the budget is not used up, a response is read ahead of a slow client, which frees the backend
 * connection.
 */
export function createRelay(reply: Reply, budget: SharedBudget): Relay {
  return function relay(exchange, { status, reason, headers, body }) {
    const fields = reply.fields(exchange);
    fields.addRead(headers);
    const { call } = exchange;
    if (!(body instanceof BodyStream)) {
      call.respond(status, reason, fields, body);
      return;
    }
    call.begin(status, reason, fields);
    body.to(relayed(exchange, body));
    call.flush();
  };

  function relayed(exchange: Exchange, body: BodyStream): BodySink {
    const { call } = exchange;
    const ahead: Buffer[] = [];
    let holding: Holding | null = null;
    let isBlocked = false;
    let isPaused = false;
    let isEnded = false;
    let isWatched = false;

    return {
      chunk(bytes) {
        if (!isBlocked) {
          isBlocked = !call.write(bytes, sendOn);
          return true;
        }
        if (!isWatched) {
          isWatched = true;
          call.whenEnded(letGo);
        }
        ahead.push(Buffer.from(bytes));
        // The backend will not send it again, so it is in use.
        holding ??= budget.open(exchange.client!.owner, null);
        isPaused = !budget.grow(holding, bytes.length);
        return !isPaused;
      },
      end() {
        if (ahead.length === 0) call.end();
        else isEnded = true;
      },
      fail(error) {
        letGo();
        void reply.fail(exchange, error);
      },
    };

    function sendOn(): void {
      isBlocked = false;
      while (ahead.length > 0 && !isBlocked)
        isBlocked = !call.write(ahead.shift()!, sendOn);
      if (ahead.length > 0) return;
      letGo();
      if (isEnded) call.end();
      else if (isPaused) {
        isPaused = false;
        body.resume();
      }
    }

    function letGo(): void {
      ahead.length = 0;
      if (holding !== null) budget.release(holding);
      holding = null;
    }
  }
}
