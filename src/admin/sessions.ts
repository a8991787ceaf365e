import { randomBytes } from 'node:crypto';
import type { Request } from 'express';
import { notFuture } from '../common/time.ts';

export const CONSOLE_PREFIX = '/console';

export type Sessions = ReturnType<typeof createSessions>;

/**
 * The oldest sessions of the same token end, so that a sign-in never ends the session of another
 * operator.
 */
const MOST = 50;

interface Session {
  readonly tokenHash: string;
  begun: number;
  used: number;
}

/**
 * Sessions of the console, in memory, each with the hash of its token. Each call checks the token,
 * so revoking it ends its sessions. `limits`: milliseconds; they may change with a reload.
 */
export function createSessions(
  limits: () => { readonly idle: number; readonly longest: number },
  clock: () => number,
) {
  /** In the order of their begin. */
  const sessions = new Map<string, Session>();

  function hasEnded(session: Session): boolean {
    const { idle, longest } = limits();
    const now = clock();
    session.begun = notFuture(session.begun, now);
    session.used = notFuture(session.used, now);
    return now - session.used > idle || now - session.begun > longest;
  }

  function live(id: string): Session | null {
    const session = sessions.get(id);
    if (!session) return null;
    if (!hasEnded(session)) return session;
    sessions.delete(id);
    return null;
  }

  function freeSpace(tokenHash: string): void {
    for (const [id, session] of sessions)
      if (hasEnded(session)) sessions.delete(id);
    const same = [...sessions].filter(
      ([, session]) => session.tokenHash === tokenHash,
    );
    for (const [id] of same.slice(0, Math.max(0, same.length - MOST + 1)))
      sessions.delete(id);
  }

  return {
    /** Returns the id, a secret of 256 bits. */
    begin(tokenHash: string): string {
      freeSpace(tokenHash);
      const id = randomBytes(32).toString('base64url');
      const now = clock();
      sessions.set(id, { tokenHash, begun: now, used: now });
      return id;
    },
    /** `null`: unknown or ended. */
    find: (id: string): string | null => live(id)?.tokenHash ?? null,
    /** Records user activity. Polling by a page does not count, so that open tabs expire. */
    use(id: string): void {
      const session = live(id);
      if (session) session.used = clock();
    },
    end: (id: string) => void sessions.delete(id),
  };
}

/**
 * Usually one. Servers at other ports of the host may set more cookies of this name, and browsers
 * send those with the longest path first (RFC 6265 section 5.4), so none may hide another.
 */
export function sessionIds({ headers }: Request): string[] {
  const prefix = `${nameFor(headers.host)}=`;
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs
    .filter((pair) => pair.startsWith(prefix))
    .map((pair) => pair.slice(prefix.length));
}

/** `null` deletes the cookie. */
export function sessionCookie(id: string | null, request: Request): string {
  const value = `${nameFor(request.headers.host)}=${id ?? ''}; Path=${CONSOLE_PREFIX}/; HttpOnly; SameSite=Strict`;
  return `${value}${cameOverTls(request) ? '; Secure' : ''}${id === null ? '; Max-Age=0' : ''}`;
}

/**
 * Cookies ignore ports, and tunnels make several gateways `localhost`, so each port has its own
 * name.
 */
function nameFor(host = ''): string {
  return `storegate_session_${/:(\d{1,5})$/.exec(host)?.[1] ?? 'default'}`;
}

/**
 * Also TLS up to a balancer, as the browser's Origin shows; forging it harms only the forger.
 * X-Forwarded-Proto is not trusted: the listener has no proxy settings.
 */
function cameOverTls({ secure, headers }: Request): boolean {
  return secure || headers.origin?.startsWith('https://') === true;
}
