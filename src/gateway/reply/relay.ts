import { type BodySink, BodyStream } from '../../http1/body-stream.ts';
import type { FieldLines } from '../../http1/writing.ts';
import type { Exchange } from '../exchange.ts';
import type { StoreAnswer } from '../upstream/store-answer.ts';
import type { Answer } from './answer.ts';

/** Sends the store's answer to the caller, at the caller's pace. Answers failures on the way. */
export type Relay = (exchange: Exchange, stored: StoreAnswer) => void;

export function createRelay({ answer }: { answer: Answer }): Relay {
  return function relay(exchange, { status, reason, headers, body }) {
    const fields = answer.fields(exchange);
    fields.addRead(headers);
    if (body instanceof BodyStream) stream(exchange, status, reason, fields, body);
    else exchange.call.answer(status, reason, fields, body);
  };

  function stream(exchange: Exchange, status: number, reason: string, fields: FieldLines, body: BodyStream): void {
    const { call } = exchange;
    const resume = () => body.resume();
    const sink: BodySink = {
      chunk: (bytes) => call.write(bytes, resume),
      end: () => call.end(),
      fail: (error) => void answer.fail(exchange, error),
    };
    call.begin(status, reason, fields);
    body.to(sink);
    // Sends the head now if no byte of the body has come yet.
    call.flush();
  }
}
