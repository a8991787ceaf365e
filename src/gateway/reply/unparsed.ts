import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { plainAddress } from '../../callers/address.ts';
import type { Guard } from '../../callers/guard.ts';
import type { Refusal } from '../../errors/refusals.ts';
import type { Observe } from '../../observe/events.ts';
import { failureFields, pushLimitHeaders } from './headers.ts';

/**
 * Answers input that never became a request, in the same form as other answers. The connection cannot be trusted after it.
 * Never rejects.
 */
export type AnswerUnparsed = (refusal: Refusal, socket: Socket) => Promise<void>;

export function createUnparsedAnswers({ guard, observe }: { guard: Guard; observe: Observe }): AnswerUnparsed {
  async function write(refusal: Refusal, socket: Socket): Promise<void> {
    const startedAt = performance.now();
    const address = plainAddress(socket.remoteAddress);
    const id = randomUUID();
    const { body } = refusal;
    const headers = ['X-Request-Id', id];
    pushLimitHeaders(headers, await guard.look(address));
    headers.push(...failureFields(refusal), 'Content-Length', `${Buffer.byteLength(body)}`, 'Connection', 'close');
    socket.write(`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}\r\n${lines(headers)}\r\n${body}`);
    observe({
      type: 'request',
      id,
      method: 'other',
      operation: 'none',
      status: refusal.status,
      complete: true,
      code: refusal.code,
      verdict: null,
      keyId: null,
      account: null,
      plan: null,
      address,
      duration: performance.now() - startedAt,
      upstream: null,
    });
  }

  return (refusal, socket) =>
    write(refusal, socket).catch((bug) => {
      observe({ type: 'bug', id: 'none', error: bug });
      socket.destroy();
    });
}

function lines(headers: readonly string[]): string {
  let text = '';
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return text;
}
