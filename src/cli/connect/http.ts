import { eventsIn } from '@storegate/console/words';
import { type FetchTls, httpsFetch } from '../../common/https-fetch.ts';
import { encodeShellUser, SHELL_USER_HEADER } from '../../keys/operators/shell-user.ts';
import { type Api, CallError, failureOf, headersOf, queryOf, type Sent } from './api.ts';

/** The longest wait for an answer, in milliseconds. */
const REQUEST_TIMEOUT = 30_000;
/** Milliseconds without a word after which a stream is lost: the gateway says something every few seconds. */
const SILENCE = 15_000;

/** The admin listener of a running gateway. `user`: name of who calls, which counts with the token of the gateway's run only. */
export function connectOverHttp(
  url: string,
  token: string | null,
  { user = null, tls = null }: { readonly user?: string | null; readonly tls?: FetchTls | null } = {},
): Api {
  if (!/^https?:\/\/[^\s?#]+$/.test(url) || !URL.canParse(url)) {
    throw new CallError(
      `${JSON.stringify(url)} is not the URL of an admin listener, which looks like http://127.0.0.1:9901`,
      { failure: 'usage' },
    );
  }
  const base = url.replace(/\/+$/, '');

  async function send(
    method: string,
    path: string,
    sent: Sent,
    stop = AbortSignal.timeout(REQUEST_TIMEOUT),
  ): Promise<Response> {
    const { query, body } = sent;
    const search = queryOf(query);
    const headers: Record<string, string> = { Accept: 'application/json', ...headersOf(sent) };
    if (token !== null) headers.Authorization = `Bearer ${token}`;
    if (user !== null) headers[SHELL_USER_HEADER] = encodeShellUser(user);
    try {
      const address = `${base}${path}${search && `?${search}`}`;
      const asked = { method, headers, signal: stop, ...(body !== undefined && { body: JSON.stringify(body) }) };
      if (tls === null || !base.startsWith('https:')) return await fetch(address, { ...asked, redirect: 'error' });
      return await httpsFetch(address, tls, asked);
    } catch (cause) {
      throw new CallError(`cannot reach the gateway at ${base}: ${reasonOf(cause)}`, { failure: 'shut', cause });
    }
  }

  async function refusalIn(response: Response): Promise<CallError> {
    const { message } = (await bodyOf(response, base)) as { message?: unknown };
    if (typeof message !== 'string')
      return new CallError(`${base} is no admin listener of storegate`, { failure: 'shut' });
    return new CallError(message, { failure: failureOf(response.status) });
  }

  return {
    async call<T>(method: string, path: string, sent: Sent = {}) {
      const response = await send(method, path, sent);
      if (response.ok) return (await bodyOf(response, base)) as T;
      throw await refusalIn(response);
    },
    async follow(path, query, heard, stop) {
      const ending = new AbortController();
      const silence = setTimeout(() => ending.abort(), SILENCE);
      const reaching = async <T>(work: Promise<T>): Promise<T | null> => {
        try {
          return await work;
        } catch (error) {
          if (stop.aborted) return null;
          if (ending.signal.aborted) throw new CallError(`the gateway at ${base} is silent`, { cause: error });
          throw error instanceof CallError ? error : new CallError(`the gateway at ${base} is gone`, { cause: error });
        }
      };
      try {
        const response = await reaching(send('GET', path, { query }, AbortSignal.any([stop, ending.signal])));
        if (response === null) return;
        if (!response.ok) throw await refusalIn(response);
        const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
        for (let text = ''; ; ) {
          const part = await reaching(reader.read());
          if (part === null) return;
          if (part.done)
            throw new CallError(`the gateway at ${base} has ended it: it stops, or your token holds no longer`);
          silence.refresh();
          const { events, rest } = eventsIn(text + part.value);
          text = rest;
          for (const { name, data } of events) heard(name, data);
        }
      } finally {
        clearTimeout(silence);
        ending.abort();
      }
    },
    // An idle connection keeps no process alive.
    close: async () => {},
  };
}

async function bodyOf(response: Response, base: string): Promise<unknown> {
  try {
    return Object(await response.json());
  } catch (cause) {
    throw new CallError(`${base} is no admin listener of storegate: its answer is no JSON`, { failure: 'shut', cause });
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (error.name === 'TimeoutError') return 'it did not answer in time';
  const inner = cause instanceof Error ? cause : error;
  const { code = inner.name } = inner as NodeJS.ErrnoException;
  if (/SELF_SIGNED|UNABLE_TO_(VERIFY|GET)/.test(code)) {
    return `nobody trusted has signed its certificate (${code}): name its authority's file in STOREGATE_ADMIN_CA`;
  }
  if (/ALERT.*CERTIFICATE/.test(code)) {
    return `it wants a certificate (${code}): name yours in STOREGATE_ADMIN_CLIENT_CERT and STOREGATE_ADMIN_CLIENT_KEY`;
  }
  if (/wrong version number/.test(inner.message)) return 'it speaks no TLS: begin the URL with http';
  if (code === 'UND_ERR_SOCKET') return `${inner.message}. If it speaks TLS, begin the URL with https`;
  return inner.message || code;
}
