import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { createGuard } from '../callers/guard.ts';
import type { Config } from '../config/config.ts';
import { isLoopback } from '../config/schema/formats.ts';
import { Outage } from '../errors/outage.ts';
import { wholeSeconds } from '../errors/retry-after.ts';
import {
  configuredToken,
  hashToken,
  type Operator,
  operatorOf,
  type TokenRecord,
  type TokenStore,
} from '../operators/tokens.ts';
import { AdminError } from './admin-error.ts';

/** Who may come in on the admin listener. */
export interface Gate {
  /** Throws AdminError for requests that a web page made, or was made to make. */
  checkOrigin(request: IncomingMessage): void;
  /** Who calls. Throws AdminError without a good token, where one is needed. */
  operator(request: IncomingMessage): Promise<Operator>;
}

/** Wrong tokens per address and minute. */
const GUESSES = { failures: 10, span: 60_000 };
/** Whoever reaches the loopback address of a gateway without any token is its operator. */
const LOCAL: Operator = { name: 'local', role: 'admin' };

/**
 * `ownToken`: of this run of the gateway, for commands on its machine; its holder is the local operator. `null`: nobody has
 * one.
 */
export function createGate(admin: Config['admin'], tokens: TokenStore, ownToken: string | null): Gate {
  const guard = createGuard(GUESSES);
  const configured = configuredToken(admin.token);
  const own = ownToken === null ? [] : [{ ...LOCAL, hash: hashToken(ownToken), createdAt: 0 }];
  let lastKnown: readonly TokenRecord[] | null = null;

  /** While the state is away those of before hold: an outage is when operators are needed most. */
  async function known(): Promise<readonly TokenRecord[]> {
    try {
      lastKnown = await tokens.list();
    } catch (error) {
      if (!(error instanceof Outage)) throw error;
      if (!lastKnown)
        throw new AdminError('state_unavailable', 'The tokens cannot be read at the moment: try again later.');
    }
    return lastKnown;
  }

  // Whoever calls for the first time while the state is away finds those of the start. Not to have them is told to callers.
  known().catch(() => {});

  async function refused(address: string): Promise<AdminError> {
    const { exhausted, readings, now } = await guard.fail(address);
    if (!exhausted) {
      return new AdminError('invalid_admin_token', 'Send an admin token as Authorization: Bearer <token>.', {
        headers: { 'WWW-Authenticate': 'Bearer realm="storegate admin"' },
      });
    }
    const wait = wholeSeconds(readings[0]!.resetAt - now);
    return new AdminError('too_many_failed_attempts', 'Too many calls without a good token came from this address.', {
      headers: { 'Retry-After': `${wait}` },
    });
  }

  return {
    checkOrigin({ headers }) {
      const { host = '', origin } = headers;
      // A page of another name that resolves to this machine (DNS rebinding) sends its own name as the host.
      if (isLoopback(admin.host) && !isLocalName(host)) {
        throw new AdminError('foreign_host', 'The admin listener answers to localhost and 127.0.0.1 only.');
      }
      if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) {
        throw new AdminError('foreign_origin', 'The admin listener does not answer to web pages of other origins.');
      }
    },
    async operator({ headers, socket }) {
      const [, token] = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
      const configuredOne = token === undefined ? null : operatorOf(token, [...configured, ...own]);
      if (configuredOne) return configuredOne;
      const stored = await known();
      const found = token === undefined ? null : operatorOf(token, stored);
      if (found) return found;
      const open = configured.length + stored.length === 0 && isLoopback(admin.host);
      if (open && headers.authorization === undefined) return LOCAL;
      throw await refused(socket.remoteAddress ?? 'unknown');
    },
  };
}

/** `localhost`, or an address: what no foreign page can have as its name. */
function isLocalName(host: string): boolean {
  const name = host
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
  return name === 'localhost' || name.endsWith('.localhost') || (isIP(name) !== 0 && isLoopback(name));
}
