import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ContractError } from '@storegate/openapi';
import { shortDigest } from '../../common/digest.ts';
import { PRIVATE, replaceFile } from '../../common/folder.ts';
import { isObject } from '../../common/shapes.ts';
import type { Observe } from '../../observe/events.ts';
import { makeDataFolder } from '../../state/data-folder.ts';

/** Milliseconds. */
const TIMEOUT = 15_000;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];

/** Times are Unix milliseconds. */
export interface Fetched {
  readonly url: string;
  readonly at: number;
  readonly text: string;
}

export interface CopyInUse {
  readonly url: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly reason: string;
}

interface FetchOptions {
  /** Milliseconds. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

/** The copy in the data folder if the URL is unreachable. Rejects as `fetchContract`. */
export async function fetchOrCopy(
  url: string,
  data: string,
  options: FetchOptions = {},
): Promise<{ readonly fetched: Fetched; readonly copy: CopyInUse | null }> {
  try {
    return { fetched: await fetchContract(url, options), copy: null };
  } catch (error) {
    const copy = error instanceof ContractError ? readCopy(data, url) : null;
    if (copy === null) throw error;
    return {
      fetched: copy,
      copy: {
        url,
        at: copy.at,
        reason: (error as ContractError).problems[0]!.message,
      },
    };
  }
}

/**
 * @param url without credentials, so that messages may show it
 * @throws ContractError with the reason, or the reason of `signal`
 */
export async function fetchContract(
  url: string,
  { timeout = TIMEOUT, signal }: FetchOptions = {},
): Promise<Fetched> {
  const late = AbortSignal.timeout(timeout);
  try {
    const response = await follow(
      url,
      signal ? AbortSignal.any([late, signal]) : late,
    );
    if (!response.ok)
      throw new Unusable(`cannot be fetched: status ${response.status}`);
    const type = response.headers.get('content-type') ?? '';
    if (/^text\/html\b/i.test(type))
      throw new Unusable('is a page of HTML, not an OpenAPI document');
    return {
      url,
      at: Date.now(),
      text: new TextDecoder('utf-8', { fatal: true }).decode(
        await bytesOf(response),
      ),
    };
  } catch (error) {
    signal?.throwIfAborted();
    throw new ContractError([
      { file: url, place: '', message: messageOf(error, timeout) },
    ]);
  }
}

class Unusable extends Error {}

/**
 * Redirects must not lead to other schemes, nor from https to http: the contract decides who needs
 * a key.
 */
async function follow(url: string, signal: AbortSignal): Promise<Response> {
  let at = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const headers = { Accept: 'application/yaml, application/json, */*;q=0.5' };
    const response = await fetch(at, { headers, redirect: 'manual', signal });
    const location = REDIRECTS.includes(response.status)
      ? response.headers.get('location')
      : null;
    if (location === null) return response;
    await response.body?.cancel();
    at = nextUrl(location, at);
  }
  throw new Unusable(`cannot be fetched: more than ${MAX_REDIRECTS} redirects`);
}

/** Exported for tests. */
export function nextUrl(location: string, from: string): string {
  const next = URL.parse(location, from);
  // A message with the URL could show credentials.
  if (
    next === null ||
    !/^https?:$/.test(next.protocol) ||
    next.username !== '' ||
    next.password !== ''
  )
    throw new Unusable(
      'cannot be fetched: it redirects to a URL that is not http or https, or has credentials',
    );
  if (next.protocol === 'http:' && new URL(from).protocol === 'https:')
    throw new Unusable('cannot be fetched: it redirects from https to http');
  return next.href;
}

async function bytesOf({ body }: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES)
      throw new Unusable(`is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function messageOf(error: unknown, timeout: number): string {
  const { name, message, cause } = error as Error;
  if (error instanceof Unusable) return message;
  if (
    (error as NodeJS.ErrnoException).code ===
    'ERR_ENCODING_INVALID_ENCODED_DATA'
  )
    return 'is not UTF-8';
  if (name === 'TimeoutError')
    return `cannot be fetched: no complete response within ${timeout / 1_000} s`;
  const { code, message: inner } = Object(cause) as NodeJS.ErrnoException;
  return `cannot be fetched: ${code ?? inner ?? message}`;
}

/** Where the copy of a contract is. */
export const copyOf = (folder: string, url: string): string =>
  join(folder, `contract-copy-${shortDigest(url)}.json`);

/**
 * Call with a contract in force: a start or reload uses the copy while the URL is unreachable.
 * Durable once it resolves. A failure is only reported.
 */
export async function keepCopy(
  folder: string,
  fetched: Fetched,
  observe: Observe,
): Promise<void> {
  try {
    makeDataFolder(folder);
    await replaceFile(
      copyOf(folder, fetched.url),
      JSON.stringify(fetched),
      PRIVATE,
    );
  } catch (error) {
    observe({ type: 'contract.copy_failed', url: fetched.url, error });
  }
}

/** `null`: none of this URL. */
export function readCopy(folder: string, url: string): Fetched | null {
  try {
    const copy: unknown = JSON.parse(readFileSync(copyOf(folder, url), 'utf8'));
    if (!isObject(copy) || copy.url !== url) return null;
    return typeof copy.at === 'number' && typeof copy.text === 'string'
      ? (copy as unknown as Fetched)
      : null;
  } catch (error) {
    if (
      error instanceof SyntaxError ||
      (error as NodeJS.ErrnoException).code === 'ENOENT'
    )
      return null;
    throw error;
  }
}
