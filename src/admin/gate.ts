import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { SHELL_USER_HEADER } from '@storegate/admin-api';
import { plainAddress } from '../common/clients/address.ts';
import { createGuard } from '../common/clients/guard.ts';
import { unlessOutage } from '../common/errors/outage.ts';
import { wholeSeconds } from '../common/errors/retry-after.ts';
import { MINUTE } from '../common/time.ts';
import type { Config } from '../config/config.ts';
import { isLoopback } from '../config/schema/formats.ts';
import { hashSecret } from '../records/keys/secret.ts';
import { decodeShellUser, shellUser } from '../records/operators/shell-user.ts';
import {
  configuredToken,
  holderOf,
  type Operator,
  type TokenRecord,
  type TokenStore,
} from '../records/operators/tokens.ts';
import { AdminError } from './admin-error.ts';
import { CONSOLE_PREFIX } from './sessions.ts';

export type Gate = ReturnType<typeof createGate>;

/** Wrong tokens per address, within milliseconds. */
const GUESSES = { failures: 10, window: MINUTE };
/** Loopback access while no token exists. */
const LOCAL: Operator = { name: 'local', role: 'admin' };

/**
 * `isLocal`: whether a request came through the socket of the data folder, which only the owner of
 * the folder can open. So it needs no token and may name the user. No other request can choose a
 * name, and a chosen name never equals that of a token.
 */
export function createGate(
  admin: Config['admin'],
  tokens: TokenStore,
  isLocal: (request: IncomingMessage) => boolean,
) {
  const guard = createGuard(GUESSES);
  const configured = configuredToken(admin.token);
  let lastKnown: readonly TokenRecord[] | null = null;

  /**
   * During an outage of the state the last tokens read stay valid: operators are needed most then.
   */
  async function loadTokens(): Promise<readonly TokenRecord[]> {
    lastKnown = await unlessOutage(() => tokens.list(), lastKnown);
    if (lastKnown) return lastKnown;
    throw new AdminError(
      'state_unavailable',
      'The tokens cannot be read at the moment: try again later.',
    );
  }

  // Prepares for an outage before the first call. That call reports a failure itself.
  loadTokens().catch(() => {});

  async function refused(
    { socket }: IncomingMessage,
    message: string,
  ): Promise<AdminError> {
    const { exhausted, readings, now } = await guard.fail(
      plainAddress(socket.remoteAddress),
    );
    if (!exhausted) {
      return new AdminError('invalid_admin_token', message, {
        headers: { 'WWW-Authenticate': 'Bearer realm="storegate admin"' },
      });
    }
    const wait = wholeSeconds(readings[0]!.resetAt - now);
    return new AdminError(
      'too_many_failed_attempts',
      'Too many calls without a good token came from this address.',
      {
        headers: { 'Retry-After': `${wait}` },
      },
    );
  }

  /**
   * `null`: revoked. Throws AdminError while the state is down; the configured token needs no
   * state.
   */
  async function holder(hash: string): Promise<Operator | null> {
    return holderOf(hash, configured) ?? holderOf(hash, await loadTokens());
  }

  /** The operator if no token is needed; `null`: one is. */
  async function withoutToken(): Promise<Operator | null> {
    if (configured.length > 0 || !isLoopback(admin.host)) return null;
    return (await loadTokens()).length === 0 ? LOCAL : null;
  }

  async function find(request: IncomingMessage): Promise<Operator | null> {
    const { headers } = request;
    const [, token] =
      /^bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
    if (headers.authorization === undefined && isLocal(request))
      return shellUserIn(headers[SHELL_USER_HEADER.toLowerCase()]);
    const found = token === undefined ? null : await holder(hashSecret(token));
    return (
      found ??
      (headers.authorization === undefined ? await withoutToken() : null)
    );
  }

  return {
    /** Throws AdminError for requests by web pages of another origin. */
    checkOrigin(request: IncomingMessage): void {
      if (isLocal(request)) return;
      const { host = '', origin } = request.headers;
      // DNS rebinding: a web page whose name resolves to this machine sends that name as host.
      if (isLoopback(admin.host) && !isLocalName(host)) {
        throw new AdminError(
          'foreign_host',
          'The admin listener accepts only localhost and 127.0.0.1.',
        );
      }
      const isForeign =
        origin !== undefined &&
        origin !== `http://${host}` &&
        origin !== `https://${host}`;
      if (isForeign || (isOfOtherPage(request) && !opensConsole(request)))
        throw new AdminError(
          'foreign_origin',
          'The admin listener refuses web pages of other origins.',
        );
    },
    /** Throws AdminError if a required token is missing or wrong. */
    async operator(request: IncomingMessage): Promise<Operator> {
      const found = await find(request);
      if (found) return found;
      throw await refused(
        request,
        'Send an admin token as Authorization: Bearer <token>.',
      );
    },
    /** Returns the hash of the token. Throws as `operator`, and counts a wrong token. */
    async admit(token: string, request: IncomingMessage): Promise<string> {
      const hash = hashSecret(token);
      if (await holder(hash)) return hash;
      throw await refused(
        request,
        'The admin token is not valid for this gateway, or it was revoked.',
      );
    },
    holder,
    withoutToken,
  };
}

/**
 * Only browsers send Fetch Metadata, also with reads, which have no Origin. `none` is a typed
 * address.
 */
function isOfOtherPage({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}

/** A link to a page of the console, such as from a dashboard. The page itself holds no data. */
function opensConsole({ method, url = '', headers }: IncomingMessage): boolean {
  const path = url.split('?', 1)[0]!;
  const isPage =
    path === '/' ||
    path === CONSOLE_PREFIX ||
    path.startsWith(`${CONSOLE_PREFIX}/`);
  return isPage && method === 'GET' && headers['sec-fetch-dest'] === 'document';
}

function shellUserIn(header: string | string[] | undefined): Operator {
  const name =
    header === undefined ? shellUser() : decodeShellUser(String(header));
  if (name !== null) return { name, role: 'admin' };
  throw new AdminError(
    'invalid_request',
    `${SHELL_USER_HEADER} must be cli: and the name of a user, percent-encoded.`,
  );
}

/** `localhost` or a loopback address, which no remote page can have. */
function isLocalName(host: string): boolean {
  const name = host
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    (isIP(name) !== 0 && isLoopback(name))
  );
}
