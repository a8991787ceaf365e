import type { Socket } from 'node:net';
import { type CallTransport, RequestHeads, ServerCall } from '@storegate/http1';

export interface LooseCall {
  readonly call: ServerCall;
  /** One character per byte. */
  written(): string;
  readonly isPaused: boolean;
}

export function looseCall(
  method: string,
  headers: Readonly<Record<string, string>> = {},
): LooseCall {
  const lines = Object.entries({ Host: 'localhost', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const head = new RequestHeads().read(`${method} / HTTP/1.1\r\n${lines.join('')}\r\n`);
  let text = '';
  let isPaused = false;
  const carrier: CallTransport = {
    peer: '192.0.2.1',
    secure: false,
    known: false,
    mayPersist: () => true,
    closing: () => '\r\n',
    write(data, more = '') {
      for (const part of [data, more])
        text += typeof part === 'string' ? part : part.toString('latin1');
      return true;
    },
    responded: () => call.finish(false),
    cutOff: () => call.finish(true),
    takeOver(): { socket: Socket; rest: null } {
      throw new Error('a call without a connection cannot be aborted');
    },
    pause() {
      isPaused = true;
    },
    resume() {
      isPaused = false;
    },
  };
  const call = new ServerCall(carrier, head);
  return {
    call,
    written: () => text,
    get isPaused() {
      return isPaused;
    },
  };
}
