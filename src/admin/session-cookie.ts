import type { Request } from 'express';

/** Where the console is. Its cookie is of what is below alone. */
export const CONSOLE_PREFIX = '/console';

/**
 * The ids of sessions that a request names, one as a rule. What listens at another port of the machine may have set more by the same
 * name, and a browser sends those with the longest path first (RFC 6265, section 5.4), so none may hide another.
 */
export function sessionIds({ headers }: Request): string[] {
  const wanted = `${nameFor(headers.host)}=`;
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
  return pairs.filter((pair) => pair.startsWith(wanted)).map((pair) => pair.slice(wanted.length));
}

/** The field that gives a browser the id of its session; `null` takes it away. */
export function sessionCookie(id: string | null, request: Request): string {
  const value = `${nameFor(request.headers.host)}=${id ?? ''}; Path=${CONSOLE_PREFIX}/; HttpOnly; SameSite=Strict`;
  return `${value}${cameOverTls(request) ? '; Secure' : ''}${id === null ? '; Max-Age=0' : ''}`;
}

/** Cookies know no ports, so each port has a name of its own: people reach several gateways as `localhost`, through tunnels. */
function nameFor(host = ''): string {
  return `storegate_session_${/:(\d{1,5})$/.exec(host)?.[1] ?? 'default'}`;
}

/**
 * Whether the browser speaks TLS, if only to a balancer in front. Its own Origin says so, which whoever forges it forges for
 * themselves. X-Forwarded-Proto is not believed: the listener knows no proxy.
 */
function cameOverTls({ secure, headers }: Request): boolean {
  return secure || headers.origin?.startsWith('https://') === true;
}
