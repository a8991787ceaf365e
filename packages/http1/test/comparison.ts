import { isDeepStrictEqual } from 'node:util';
import type { Head, RequestHead, ResponseHead } from '../src/heads.ts';
import type { AnswerCase, Case } from './arbitrary-messages.ts';
import { type NodeMessage, type NodeReading, type NodeServer, readAnswerByNode } from './node-http.ts';
import { isFinal, isTunnel, type Reading, readAnswers, readRequests, type Understood } from './reading.ts';

/** What became of the cases: that they are neither all good nor all hopeless is for the test to say. */
export class Tally {
  cases = 0;
  /** Messages that ours accepted, and that node:http then read as the same ones. */
  whole = 0;
  /** Heads that ours accepted, whose body is faulty or missing. */
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

/** Two readings that should be one. */
export interface Difference {
  readonly what: string;
  readonly ours: unknown;
  readonly theirs: unknown;
}

/** Sent behind what ours accepted: llhttp understands it only if it stands where ours stands. */
const NEXT = 'GET /next HTTP/1.1\r\nHost: next\r\nConnection: close\r\n\r\n';

/**
 * Reads requests with ours and with llhttp. What ours accepts llhttp must accept, and understand as the same; and splits must
 * make no difference.
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
  const goesOn = last.whole && last.head.persistent && !isTunnel(last.head);
  const accepted = acceptedOf(bytes, whole) + (goesOn ? NEXT : '');
  const theirs = await server.read(
    accepted,
    isAsFar(ours.length + (goesOn ? 1 : 0), last.whole && !isTunnel(last.head)),
  );
  if (goesOn && theirs.messages.pop()?.line !== 'GET /next') return { what: 'where it ends', ours, theirs };
  return differenceOf(ours, theirs, isTunnel(last.head));
}

/** Reads the interim answers and the final one to a request with ours and with llhttp, as `compareRequests` does. */
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

/** CONNECT to what is no authority: llhttp refuses it, ours leaves that to the server, which refuses every CONNECT. */
function isRefusedConnect({ method, target }: RequestHead): boolean {
  return method === 'CONNECT' && !/^[\w.[\]:~!$&'()*+,;=%-]+$/.test(target);
}

const HEAD_ONLY = { body: '', whole: false };

/** By RFC 9112 section 6.3 these have no body, whatever they say of its length. llhttp reads one behind 204 and 101. */
function hasNoBody({ status }: ResponseHead): boolean {
  return status === 204 || status === 101;
}

/** The form of node:http; of some messages only the head. */
function asNode<H extends Head>(lineOf: (head: H) => string, isHeadOnly: (head: H) => boolean) {
  return ({ head, body, whole }: Understood<H>): NodeMessage => ({
    line: lineOf(head),
    version: `1.${head.minor}`,
    fields: head.fields.list,
    ...(whole && !isHeadOnly(head) ? { body, whole } : HEAD_ONLY),
  });
}

/** What ours accepted; of a message whose body is faulty or missing, its head. */
function acceptedOf(bytes: string, { messages, taken }: Reading<Head>): string {
  if (messages.at(-1)!.whole) return bytes.slice(0, taken);
  const start = bytes.startsWith('\r\n', taken) ? taken + 2 : taken;
  return bytes.slice(0, bytes.indexOf('\r\n\r\n', start) + 4);
}

function isAsFar(count: number, whole: boolean): (reading: NodeReading) => boolean {
  return ({ messages }) => messages.length === count && (!whole || messages.at(-1)!.whole);
}

/** `isHeadOnly`: of the last message llhttp may have read on in its own way. */
function differenceOf(ours: readonly NodeMessage[], theirs: NodeReading, isHeadOnly: boolean): Difference | null {
  if (isHeadOnly) Object.assign(theirs.messages.at(-1) ?? {}, HEAD_ONLY);
  const isSame = theirs.fault === null && isDeepStrictEqual(ours, theirs.messages);
  return isSame ? null : { what: 'what was understood', ours, theirs };
}
