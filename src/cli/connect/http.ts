import { join } from 'node:path';
import {
  ADMIN_HEADER,
  type FieldFault,
  headersOf,
  type Sent,
  SHELL_USER_HEADER,
} from '@storegate/admin-api';
import {
  type FetchTls,
  httpFetch,
  type Outgoing,
} from '../../common/http-fetch.ts';
import { shellUser } from '../../records/operators/shell-user.ts';
import { type AdminSocket, fetchThrough } from '../../state/admin-sockets.ts';
import {
  type CallFailure,
  CommandError,
  type Connection,
  type Details,
  failureOf,
  queryOf,
} from './api.ts';

/** Milliseconds of a download. */
const DOWNLOAD = 600_000;

const WRONG_TOKEN =
  'The admin token is missing or wrong: use --token or STOREGATE_ADMIN_TOKEN.';
const DENIED = { failure: 'denied' } as const;

interface HttpOptions {
  /** In place of host and port; without a token the call is of this shell user. */
  readonly socket?: AdminSocket;
  readonly tls?: FetchTls | null;
  /** Milliseconds until a call without a complete response fails. */
  readonly timeout?: number | undefined;
}

export function connectOverHttp(
  url: string,
  token: string | null,
  { socket, tls = null, timeout = 30_000 }: HttpOptions = {},
): Connection {
  if (!/^https?:\/\/[^\s?#]+$/.test(url) || !URL.canParse(url)) {
    throw new CommandError(
      `Invalid admin URL ${JSON.stringify(url)}. Example: http://127.0.0.1:9901`,
      {
        failure: 'usage',
      },
    );
  }
  const base = socket
    ? join(socket.folder, socket.name)
    : url.replace(/\/+$/, '');

  async function send(
    method: string,
    path: string,
    sent: Sent,
    inTime = AbortSignal.timeout(timeout),
  ): Promise<Response> {
    const { query, body, signal } = sent;
    const search = queryOf(path, query);
    const headers: Record<string, string> = {
      Accept: 'application/json',
      ...headersOf(sent),
    };
    if (token !== null) headers.Authorization = `Bearer ${token}`;
    else if (socket)
      headers[SHELL_USER_HEADER] = encodeURIComponent(shellUser());
    const target = `${path}${search && `?${search}`}`;
    const outgoing = {
      method,
      headers,
      signal: signal ? AbortSignal.any([signal, inTime]) : inTime,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    };
    let response: Response;
    try {
      response = await responseTo(target, outgoing);
      if (response.headers.has(ADMIN_HEADER)) return response;
      await response.body?.cancel();
    } catch (cause) {
      throw unreachable(base, cause, isUnsent(cause) ? 'shut' : 'lost');
    }
    throw otherServer(
      base,
      `it returned ${response.status} without the header ${ADMIN_HEADER}`,
      // A proxy may have passed the call to the gateway before it failed.
      { failure: response.status < 500 ? 'shut' : 'lost' },
    );
  }

  function responseTo(target: string, outgoing: Outgoing): Promise<Response> {
    if (socket) return fetchThrough(socket, target, outgoing);
    const address = `${base}${target}`;
    return tls !== null && base.startsWith('https:')
      ? httpFetch(address, { tls }, outgoing)
      : fetch(address, { ...outgoing, redirect: 'manual' });
  }

  async function refusalIn(response: Response): Promise<CommandError> {
    const { message, details } = (await bodyOf(response, base)) as {
      message?: unknown;
      details?: unknown;
    };
    if (typeof message !== 'string')
      return otherServer(
        base,
        `it returned ${response.status} without a message`,
        { failure: 'lost' },
      );
    if (response.status === 401) return new CommandError(WRONG_TOKEN, DENIED);
    return new CommandError(message, {
      failure: failureOf(response.status),
      faults: faultsIn(details),
    });
  }

  return {
    async call(method, path, sent = {}) {
      const response = await send(method, path, sent);
      if (response.ok) return await bodyOf(response, base);
      throw await refusalIn(response);
    },
    async download(path, query, write) {
      const response = await send(
        'GET',
        path,
        { query },
        AbortSignal.timeout(DOWNLOAD),
      );
      if (!response.ok) throw await refusalIn(response);
      try {
        for await (const part of response.body!.pipeThrough(
          new TextDecoderStream(),
        ))
          write(part);
      } catch (cause) {
        throw new CommandError(
          `Lost the connection to the gateway at ${base}: the output is incomplete.`,
          { failure: 'lost', cause },
        );
      }
      return Object.fromEntries(response.headers);
    },
    // Idle connections do not keep the process alive.
    close: async () => {},
  };
}

async function bodyOf(response: Response, base: string): Promise<unknown> {
  try {
    return Object(await response.json());
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw unreachable(base, cause, 'lost');
    throw otherServer(base, 'the response is not JSON', {
      failure: 'lost',
      cause,
    });
  }
}

function faultsIn(details: unknown): FieldFault[] {
  if (!Array.isArray(details)) return [];
  return details
    .map((entry): Partial<Record<keyof FieldFault, unknown>> => Object(entry))
    .filter(
      (entry): entry is FieldFault =>
        typeof entry.pointer === 'string' && typeof entry.message === 'string',
    );
}

function unreachable(
  base: string,
  cause: unknown,
  failure: CallFailure,
): CommandError {
  const message = `Cannot reach the gateway at ${base}: ${reasonOf(cause)}.`;
  return new CommandError(message, { failure, cause });
}

function otherServer(
  base: string,
  reason: string,
  details: Details,
): CommandError {
  const todo = 'Use the address of admin.host and admin.port.';
  return new CommandError(
    `${base} is not an admin URL of storegate: ${reason}. ${todo}`,
    details,
  );
}

/** By Node's codes: OpenSSL's reasons against a certificate, and handshakes that failed. */
const TLS_REFUSAL =
  /CERT|SIGNATURE|ERR_TLS|WRONG_VERSION|INVALID_(CA|PURPOSE)|HOSTNAME/;

/** Whether the call failed before a connection was ready, so that no server has received it. */
function isUnsent(error: unknown): boolean {
  const { code, syscall, message, errors, cause } = Object(error) as Partial<
    NodeJS.ErrnoException & AggregateError
  >;
  // One for each address of the name.
  if (errors !== undefined) return errors.every(isUnsent);
  return (
    syscall === 'connect' ||
    syscall === 'getaddrinfo' ||
    code === 'UND_ERR_CONNECT_TIMEOUT' ||
    // fetch returns it for ports of other protocols.
    message === 'bad port' ||
    (code !== undefined && TLS_REFUSAL.test(`${code}`)) ||
    (cause !== undefined && isUnsent(cause))
  );
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (error.name === 'TimeoutError') return 'timeout';
  const inner = cause instanceof Error ? cause : error;
  const { code = inner.name } = inner as NodeJS.ErrnoException;
  if (/SELF_SIGNED|UNABLE_TO_(VERIFY|GET)/.test(code)) {
    return `its certificate is not trusted (${code}). Set STOREGATE_ADMIN_CA to the file of its CA`;
  }
  if (/ALERT.*CERTIFICATE/.test(code)) {
    return `it requires a client certificate (${code}). Set STOREGATE_ADMIN_CLIENT_CERT and STOREGATE_ADMIN_CLIENT_KEY`;
  }
  if (/wrong version number/.test(inner.message))
    return 'it does not use TLS. Use an http:// URL';
  if (code === 'UND_ERR_SOCKET')
    return `${inner.message} (if it uses TLS, use an https:// URL)`;
  return inner.message || code;
}
