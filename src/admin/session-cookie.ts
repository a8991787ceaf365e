import type { Request } from 'express';

export const CONSOLE_PREFIX = '/console';

/**
 * Usually one. Servers at other ports of the host may set more cookies of this name, and browsers send those with the
 * longest path first (RFC 6265 section 5.4), so none may hide another.
 */
export function sessionIds({ headers }: Request): string[] {
  const wanted = `${nameFor(headers.host)}=`;
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.filter((pair) => pair.startsWith(wanted)).map((pair) => pair.slice(wanted.length));
}

/** `null` deletes the cookie. */
export function sessionCookie(id: string | null, request: Request): string {
  const value = `${nameFor(request.headers.host)}=${id ?? ''}; Path=${CONSOLE_PREFIX}/; HttpOnly; SameSite=Strict`;
  return `${value}${cameOverTls(request) ? '; Secure' : ''}${id === null ? '; Max-Age=0' : ''}`;
}

/** Cookies ignore ports, and tunnels make several gateways `localhost`, so each port has its own name. */
function nameFor(host = ''): string {
  return `storegate_session_${/:(\d{1,5})$/.exec(host)?.[1] ?? 'default'}`;
}

/**
 * Also TLS up to a balancer, as the browser's Origin shows; forging it harms only the forger. X-Forwarded-Proto is not
 * trusted: the listener has no proxy settings.
 */
function cameOverTls({ secure, headers }: Request): boolean {
  return secure || headers.origin?.startsWith('https://') === true;
}
