import express, { type Request, type RequestHandler, type Response, Router } from 'express';
import type { Operator } from '../operators/tokens.ts';
import { AdminError } from './admin-error.ts';
import type { Gate } from './gate.ts';
import type { Sessions } from './sessions.ts';

/** Where pages for operators are. What is below belongs to them: sessions, and the admin API for who has one. */
const PREFIX = '/console';
const COOKIE = 'storegate_session';

/** A page for a request with these header fields, flat; `null`: there is none at the path. */
export type FindConsolePage = (
  path: string,
  asked: readonly string[],
) => Promise<{ readonly status: number; readonly headers: readonly string[]; readonly body: Buffer } | null>;

export interface ConsoleParts {
  readonly gate: Gate;
  readonly sessions: Sessions;
  readonly find: FindConsolePage;
  /** Answers calls of the admin API whose operator is known. */
  readonly api: RequestHandler;
}

/**
 * The console's part of the listener. Pages are open to whoever reaches it. `/console/session` tells who is signed in (GET), takes
 * a token (POST) and forgets (DELETE); `/console/api/` is the admin API for who is.
 *
 * The cookie is of these paths alone, so that what listens at another port of the machine is hardly ever sent it (RFC 6265,
 * section 8.5: cookies know no ports), and so that no call of the admin API itself can be made with it from another page.
 */
export function consoleRoutes({ gate, sessions, find, api }: ConsoleParts): Router {
  const router = Router();

  /** Who calls; `null`: nobody who has signed in. */
  async function operatorOf(request: Request, find = sessions.find): Promise<Operator | null> {
    const id = cookieOf(request);
    const hash = id === null ? null : find(id);
    return (hash === null ? null : await gate.holder(hash)) ?? (await gate.unasked());
  }

  async function tell(operator: Operator | null, response: Response): Promise<void> {
    response.json({ operator, open: (await gate.unasked()) !== null });
  }

  router.get('/session', async (request, response) => tell(await operatorOf(request), response));
  router.post('/session', checkSource, express.json({ limit: '4kb', inflate: false }), async (request, response) => {
    const token: unknown = request.body?.token;
    if (typeof token !== 'string') throw new AdminError('invalid_request', 'Send {"token": "…"} as application/json.');
    const hash = await gate.admit(token, request);
    response.setHeader('Set-Cookie', cookie(sessions.begin(hash), request));
    await tell(await gate.holder(hash), response);
  });
  router.delete('/session', checkSource, async (request, response) => {
    const id = cookieOf(request);
    if (id !== null) sessions.end(id);
    response.setHeader('Set-Cookie', `${cookie('', request)}; Max-Age=0`);
    await tell(await gate.unasked(), response);
  });
  router.use('/api', async (request, response, next) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') checkSource(request, response, () => {});
    const operator = await operatorOf(request);
    if (!operator) throw new AdminError('invalid_admin_token', 'Nobody is signed in: sign in at /console/ first.');
    response.locals.operator = operator;
    // An open stream is no use of a session: it would never end.
    response.locals.still = () => operatorOf(request, sessions.look);
    next();
  });
  router.use('/api', api);
  router.use(async (request, response) => {
    const page =
      request.method === 'GET' || request.method === 'HEAD' ? await find(pathOf(request), request.rawHeaders) : null;
    if (!page) throw new AdminError('not_found', 'There is no such page: the console is at /console/.');
    response.status(page.status);
    for (let at = 0; at < page.headers.length; at += 2) response.setHeader(page.headers[at]!, page.headers[at + 1]!);
    response.end(page.body);
  });
  const mounted = Router();
  mounted.use(PREFIX, router);
  return mounted;
}

/** Below express's router the path lacks what the router is mounted at. */
function pathOf({ originalUrl }: Request): string {
  return originalUrl.split('?', 1)[0]!;
}

/**
 * Only the console's own scripts may change anything with a session. Browsers say where a request comes from (Fetch Metadata),
 * and older ones send Origin with it, which the listener has compared with its own.
 */
function checkSource({ headers }: Request, _response: Response, next: () => void): void {
  const site = headers['sec-fetch-site'];
  if (site === undefined ? headers.origin === undefined : site !== 'same-origin') {
    throw new AdminError('foreign_origin', 'Only the console itself may use its session for this.');
  }
  next();
}

/** The first one by this name: a browser sends the one with the longest path first. */
function cookieOf({ headers }: Request): string | null {
  for (const pair of (headers.cookie ?? '').split(';')) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === COOKIE && value) return value;
  }
  return null;
}

function cookie(value: string, { secure }: Request): string {
  return `${COOKIE}=${value}; Path=${PREFIX}/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
}
