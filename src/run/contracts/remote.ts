import { readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ContractError } from '@storegate/openapi';
import { syncFolder } from '../../common/folder.ts';
import { isObject } from '../../config/schema/schema.ts';

/** Milliseconds. */
const TIMEOUT = 15_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** Times are Unix milliseconds. */
export interface Fetched {
  readonly url: string;
  readonly at: number;
  readonly text: string;
}

/**
 * @param url without credentials, so that messages may show it @throws ContractError with the reason
 */
export async function fetchContract(url: string, timeout = TIMEOUT): Promise<Fetched> {
  const unfit = (message: string) => new ContractError([{ file: url, place: '', message }]);
  try {
    const response = await fetch(url, {
      headers: { Accept: 'application/yaml, application/json, */*;q=0.5' },
      signal: AbortSignal.timeout(timeout),
    });
    if (!response.ok) throw unfit(`cannot be fetched: status ${response.status}`);
    const type = response.headers.get('content-type') ?? '';
    if (/^text\/html\b/i.test(type)) throw unfit('is a page of HTML, not an OpenAPI document');
    return { url, at: Date.now(), text: new TextDecoder('utf-8', { fatal: true }).decode(await bytesOf(response)) };
  } catch (error) {
    if (error instanceof ContractError) throw error;
    if (error instanceof TooLarge) throw unfit(`is larger than ${MAX_BYTES} bytes`);
    if ((error as NodeJS.ErrnoException).code === 'ERR_ENCODING_INVALID_ENCODED_DATA') throw unfit('is not UTF-8');
    throw unfit(`cannot be fetched: ${reasonOf(error, timeout)}`);
  }
}

class TooLarge extends Error {
  override name = 'TooLarge';
}

async function bytesOf({ body }: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new TooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function reasonOf(error: unknown, timeout: number): string {
  const { name, message, cause } = error as Error;
  if (name === 'TimeoutError') return `no complete response within ${timeout / 1_000} s`;
  const { code, message: inner } = Object(cause) as NodeJS.ErrnoException;
  return code ?? inner ?? message;
}

/** For a start while the URL is unreachable. */
export class ContractCopy {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get #file(): string {
    return join(this.#folder, 'contract-copy.json');
  }

  /** Durable once it resolves. */
  async write(fetched: Fetched): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    const beside = `${this.#file}.${process.pid}.new`;
    try {
      await writeFile(beside, JSON.stringify(fetched), { mode: 0o600, flush: true });
      await rename(beside, this.#file);
    } finally {
      await rm(beside, { force: true });
    }
    await syncFolder(this.#folder);
  }

  read(url: string): Fetched | null {
    try {
      const copy: unknown = JSON.parse(readFileSync(this.#file, 'utf8'));
      if (!isObject(copy) || copy.url !== url) return null;
      return typeof copy.at === 'number' && typeof copy.text === 'string' ? (copy as unknown as Fetched) : null;
    } catch (error) {
      if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }
}
