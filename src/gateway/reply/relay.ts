import type { Exchange } from '../exchange.ts';
import { type BodySink, BodyStream, type StoreAnswer } from '../upstream/store-answer.ts';
import type { Answer } from './answer.ts';

/** Bytes up to which copying a body costs less than a second write. */
const ONE_WRITE = 32 * 1024;

/** Sends the store's answer to the caller, at the caller's pace. Answers failures on the way. */
export type Relay = (exchange: Exchange, stored: StoreAnswer) => void;

export function createRelay({ answer }: { answer: Answer }): Relay {
  return function relay(exchange, { status, reason, headers, body }) {
    const { response } = exchange;
    const list = answer.headers(exchange);
    for (const text of headers) list.push(text);
    response.writeHead(status, reason || undefined, list);
    if (body instanceof BodyStream) stream(exchange, body);
    // Node sends the head and a latin1 string, which keeps every byte, in one write; a Buffer would take two.
    else if (body.length <= ONE_WRITE) response.end(body.toString('latin1'), 'latin1');
    else response.end(body);
  };

  function stream(exchange: Exchange, body: BodyStream): void {
    const { response } = exchange;
    let begun = false;
    const sink: BodySink = {
      chunk(bytes) {
        begun = true;
        if (response.write(bytes)) return true;
        response.once('drain', () => body.resume());
        return false;
      },
      end: () => void response.end(),
      fail: (error) => void answer.fail(exchange, error),
    };
    body.to(sink);
    // Sends the head now, although no byte of the body has come yet.
    if (!begun && !response.writableEnded) response.flushHeaders();
  }
}
