import { request as send } from 'node:http';
import { BODY_LENGTH, CREATED, PETS, sizedReply } from './backend.ts';
import type { Running, Target } from './targets/target.ts';
import { isAdmitted, type Request, requestOf, SIZED, type Work } from './work.ts';

export class WrongAnswer extends Error {
  override name = 'WrongAnswer';
}

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** Returns X-RateLimit-Remaining, or `null` if the target does not count. Throws WrongAnswer. */
export async function probe(target: Target, running: Running, work: Work): Promise<number | null> {
  const request = requestOf(work, running.url, running.keys);
  const send = () =>
    ask(request).catch((error: Error) => Promise.reject(wrong(target, work, error.message)));
  let response = await send();
  if (letsThrough(target, work) > 0 && response.status < 400) response = await send();
  const expect = (holds: boolean, what: string) => {
    if (holds) return;
    throw wrong(
      target,
      work,
      `${what}, but it answered ${response.status} ${response.body.slice(0, 200)}`,
    );
  };
  expect(work.statuses.includes(response.status), `expected ${work.statuses.join(' or ')}`);
  if (isAdmitted(work)) checkForwarded(work, response, expect);
  if (!target.counts || work.key === 'unknown') return null;
  if (work.key === 'refused')
    expect(Number(response.headers['retry-after']) >= 1, 'expected Retry-After');
  const remaining = Number(response.headers['x-ratelimit-remaining'] ?? Number.NaN);
  expect(Number.isSafeInteger(remaining), 'expected X-RateLimit-Remaining');
  return remaining;
}

function wrong(target: Target, work: Work, what: string): WrongAnswer {
  return new WrongAnswer(`${target.name}, ${work.title}: ${what}`);
}

/** nginx's limit_req admits at least one request a minute. */
export function letsThrough(target: Target, work: Work): number {
  return work.key === 'refused' && !target.counts ? 2 : 0;
}

export async function prepare(target: Target, running: Running, work: Work): Promise<void> {
  if (!isAdmitted(work))
    for (let i = 0; i < 3; i++) await ask(requestOf(work, running.url, running.keys));
  const first = await probe(target, running, work);
  const second = await probe(target, running, work);
  if (!isAdmitted(work) || first === null || second === null) return;
  if (second !== first - 1)
    throw new WrongAnswer(`${target.name}: X-RateLimit-Remaining went from ${first} to ${second}`);
}

function checkForwarded(
  work: Work,
  response: Reply,
  expect: (holds: boolean, what: string) => void,
): void {
  expect(response.body === replyTo(work), "expected the backend's body");
  if (work.body === null) return;
  const sent = Buffer.byteLength(work.body);
  expect(Number(response.headers[BODY_LENGTH]) === sent, `expected ${sent} bytes at the backend`);
}

function replyTo({ body, path }: Work): string {
  if (body !== null) return CREATED;
  return path === undefined ? PETS : sizedReply(Number(path.slice(SIZED.length)));
}

function ask({ method, url, headers, body }: Request): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const length = body === null ? {} : { 'content-length': Buffer.byteLength(body) };
    const request = send(
      url,
      { method, headers: { ...headers, ...length }, agent: false, timeout: 10_000 },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          });
        });
      },
    );
    request.on('timeout', () => request.destroy(new Error(`no answer from ${url}`)));
    request.on('error', reject);
    request.end(body ?? undefined);
  });
}
