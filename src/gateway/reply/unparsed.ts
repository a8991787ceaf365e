import { randomUUID } from 'node:crypto';
import { type BrokenReply, FieldLines } from '@storegate/http1';
import { plainAddress } from '../../common/clients/address.ts';
import type { Guard } from '../../common/clients/guard.ts';
import type { Refusal } from '../../common/errors/refusals.ts';
import type { Observe } from '../../observe/events.ts';
import { addLimitHeaders, failureFields, type RuledLines } from './headers.ts';

/** For input that never became a request. Closes the connection. Never rejects. */
type ReplyUnparsed = (refusal: Refusal, reply: BrokenReply) => Promise<void>;

interface UnparsedReplyParts {
  readonly guard: Guard;
  readonly observe: Observe;
  readonly hasReference: () => boolean;
  readonly ruled: () => RuledLines | null;
}

export function createUnparsedReplies({
  guard,
  observe,
  hasReference,
  ruled,
}: UnparsedReplyParts): ReplyUnparsed {
  async function write(refusal: Refusal, reply: BrokenReply): Promise<void> {
    const startedAt = performance.now();
    const address = plainAddress(reply.peer);
    const id = randomUUID();
    const { body } = refusal;
    const lines = new FieldLines();
    lines.add('X-Request-Id', id);
    addLimitHeaders(lines, await guard.look(address));
    const own = failureFields(refusal, hasReference());
    lines.addAll(own);
    const rules = ruled();
    if (rules !== null) lines.addLines(rules(own));
    reply.respond(refusal.status, lines, body);
    observe({
      type: 'request',
      id,
      method: 'other',
      api: null,
      operation: 'none',
      status: refusal.status,
      complete: true,
      code: refusal.code,
      step: 'http',
      verdict: null,
      nearLimit: false,
      unheeding: false,
      deprecated: false,
      keyId: null,
      account: null,
      plan: null,
      address,
      duration: performance.now() - startedAt,
      upstream: null,
    });
  }

  return (refusal, reply) =>
    write(refusal, reply).catch((bug) => {
      observe({ type: 'bug', id: 'none', error: bug });
      reply.drop();
    });
}
