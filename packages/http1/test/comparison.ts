import { isDeepStrictEqual } from 'node:util';
import type { Head, RequestHead, ResponseHead } from '../src/heads.ts';
import type { AnswerCase, Case } from './arbitrary-messages.ts';
import {
  type NodeMessage,
  type NodeReading,
  type NodeServer,
  readAnswerByNode,
} from './node-http.ts';
import {
  isFinal,
  isTunnel,
  type Reading,
  readAnswers,
  readRequests,
  type Understood,
} from './reading.ts';

/** The test decides whether the cases are varied enough. */
export class Tally {
  cases = 0;
  /** That node:http read as the same messages. */
  whole = 0;
  /** With a faulty or missing body. */
  heads = 0;
  readonly faults: Record<string, number> = {};

  add({ messages, fault }: Reading<Head>): void {
    this.cases++;
    for (const { whole } of messages) {
      if (whole) this.whole++;
      else this.heads++;
    }
    if (fault !== null) this.faults[fault] = (this.faults[fault] ?? 0) + 1;
  }
}

export interface Difference {
  readonly what: string;
  readonly ours: unknown;
  readonly theirs: unknown;
}

/** llhttp reads it only if it ends the accepted bytes at the same place as our reader. */
const NEXT = 'GET /next HTTP/1.1\r\nHost: next\r\nConnection: close\r\n\r\n';

/**
 * llhttp must accept what our reader accepts, as the same messages; splits must make no difference.
 */
export async function compareRequests(
  { bytes, pieces }: Case,
  server: NodeServer,
  tally: Tally,
): Promise<Difference | null> {
  const whole = readRequests([bytes]);
  const split = readRequests(pieces);
  if (!isDeepStrictEqual(whole, split)) return { what: 'a split', ours: whole, theirs: split };
  tally.add(whole);
  const { messages } = whole;
  const last = messages.at(-1);
  if (last === undefined || isRefusedConnect(last.head)) return null;
  const ours = messages.map(asNode(({ method, target }) => `${method} ${target}`, isTunnel));
  const persistent = last.whole && last.head.persistent && !isTunnel(last.head);
  const accepted = acceptedOf(bytes, whole) + (persistent ? NEXT : '');
  const theirs = await server.read(
    accepted,
    isAsFar(ours.length + (persistent ? 1 : 0), last.whole && !isTunnel(last.head)),
  );
  if (persistent && theirs.messages.pop()?.line !== 'GET /next')
    return { what: 'where it ends', ours, theirs };
  return differenceOf(ours, theirs, isTunnel(last.head));
}

export async function compareAnswers(
  { bytes, pieces, method, ends }: AnswerCase,
  tally: Tally,
): Promise<Difference | null> {
  const whole = readAnswers([bytes], { method, ends });
  const split = readAnswers(pieces, { method, ends });
  if (!isDeepStrictEqual(whole, split)) return { what: 'a split', ours: whole, theirs: split };
  tally.add(whole);
  const { messages } = whole;
  const last = messages.at(-1);
  if (last === undefined) return null;
  const ours = messages.map(asNode(({ status, reason }) => `${status} ${reason}`, hasNoBody));
  const isWhole = last.whole && !hasNoBody(last.head);
  const theirs = await readAnswerByNode(acceptedOf(bytes, whole), {
    method,
    ends: ends && isWhole && isFinal(last.head),
    isEnough: isAsFar(ours.length, isWhole),
  });
  return differenceOf(ours, theirs, hasNoBody(last.head));
}

/** CONNECT to an invalid authority: llhttp refuses it; our server refuses every CONNECT. */
function isRefusedConnect({ method, target }: RequestHead): boolean {
  return method === 'CONNECT' && !/^[\w.[\]:~!$&'()*+,;=%-]+$/.test(target);
}

const HEAD_ONLY = { body: '', whole: false };

/** RFC 9112 section 6.3. llhttp reads a body after 204 and 101. */
function hasNoBody({ status }: ResponseHead): boolean {
  return status === 204 || status === 101;
}

/** Of some messages only the head. */
function asNode<H extends Head>(lineOf: (head: H) => string, isHeadOnly: (head: H) => boolean) {
  return ({ head, body, whole }: Understood<H>): NodeMessage => ({
    line: lineOf(head),
    version: `1.${head.minor}`,
    fields: head.fields.list,
    ...(whole && !isHeadOnly(head) ? { body, whole } : HEAD_ONLY),
  });
}

/** Only the head if the body is faulty or missing. */
function acceptedOf(bytes: string, { messages, taken }: Reading<Head>): string {
  if (messages.at(-1)!.whole) return bytes.slice(0, taken);
  const start = bytes.startsWith('\r\n', taken) ? taken + 2 : taken;
  return bytes.slice(0, bytes.indexOf('\r\n\r\n', start) + 4);
}

function isAsFar(count: number, whole: boolean): (reading: NodeReading) => boolean {
  return ({ messages }) => messages.length === count && (!whole || messages.at(-1)!.whole);
}

/** `isHeadOnly`: llhttp may have read the body of the last message differently. */
function differenceOf(
  ours: readonly NodeMessage[],
  theirs: NodeReading,
  isHeadOnly: boolean,
): Difference | null {
  if (isHeadOnly) Object.assign(theirs.messages.at(-1) ?? {}, HEAD_ONLY);
  const isSame = theirs.fault === null && isDeepStrictEqual(ours, theirs.messages);
  return isSame ? null : { what: 'what was understood', ours, theirs };
}
