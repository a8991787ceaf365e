import { BODY_LENGTH, CREATED, PETS, sizedReply } from './backend.ts';
import type { Child } from './children.ts';
import type { Target } from './targets/target.ts';
import { isAdmitted, requestOf, SIZED, type Work } from './work.ts';

export interface Started {
  readonly target: Target;
  readonly running: Child;
}

/** What is verified, and measured. */
export interface Subject extends Started {
  readonly work: Work;
}

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** Returns X-RateLimit-Remaining, or `null` if the target does not count. Throws `wrong`. */
export async function probe(subject: Subject): Promise<number | null> {
  const { target, work } = subject;
  let response = await ask(subject);
  if (letsThrough(subject) > 0 && response.status < 400) response = await ask(subject);
  const { status, headers, body } = response;
  const expect = (holds: boolean, what: string) => {
    if (!holds) throw wrong(subject, `${what}, but it answered ${status} ${body.slice(0, 200)}`);
  };
  expect(work.statuses.includes(status), `expected ${work.statuses.join(' or ')}`);
  if (isAdmitted(work)) {
    expect(body === replyTo(work), "expected the backend's body");
    const sent = Buffer.byteLength(work.body ?? '');
    const read = Number(headers.get(BODY_LENGTH) ?? 0);
    expect(read === sent, `expected ${sent} bytes at the backend`);
  }
  if (!target.counts || work.key === 'unknown') return null;
  if (work.key === 'refused')
    expect(Number(headers.get('retry-after')) >= 1, 'expected Retry-After');
  const remaining = Number(headers.get('x-ratelimit-remaining') ?? Number.NaN);
  expect(Number.isSafeInteger(remaining), 'expected X-RateLimit-Remaining');
  return remaining;
}

export function wrong({ target, work }: Subject, what: string): Error {
  return new Error(`${target.name}, ${work.title}: ${what}`);
}

/** nginx's limit_req admits at least one request a minute. */
export function letsThrough({ target, work }: Subject): number {
  return work.key === 'refused' && !target.counts ? 2 : 0;
}

export async function prepare(subject: Subject): Promise<void> {
  const { work } = subject;
  if (!isAdmitted(work)) for (let i = 0; i < 3; i++) await ask(subject);
  const first = await probe(subject);
  const second = await probe(subject);
  if (!isAdmitted(work) || first === null || second === null) return;
  if (second !== first - 1)
    throw wrong(subject, `X-RateLimit-Remaining went from ${first} to ${second}`);
}

function replyTo({ body, path }: Work): string {
  if (body !== null) return CREATED;
  return path === undefined ? PETS : sizedReply(Number(path.slice(SIZED.length)));
}

async function ask(subject: Subject): Promise<Reply> {
  const { url, ...request } = requestOf(subject.work, subject.running.port);
  // A new connection is read after those of the load.
  const headers = { ...request.headers, connection: 'close' };
  const signal = AbortSignal.timeout(10_000);
  try {
    const response = await fetch(url, { ...request, headers, signal });
    return { status: response.status, headers: response.headers, body: await response.text() };
  } catch (error) {
    throw wrong(subject, `${(error as Error).cause ?? error}`);
  }
}
