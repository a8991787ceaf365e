import type { FindPage } from '@storegate/pages';
import {
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
  Router,
} from 'express';
import type { Config } from '../config/config.ts';
import type { Operator } from '../records/operators/tokens.ts';
import { AdminError } from './admin-error.ts';
import type { Gate } from './gate.ts';
import {
  CONSOLE_PREFIX,
  type Sessions,
  sessionCookie,
  sessionIds,
} from './sessions.ts';

interface ConsoleParts {
  readonly gate: Gate;
  readonly sessions: Sessions;
  readonly settings: () => Config['console'];
  readonly find: FindPage;
  /** Reads bodies as bytes. */
  readonly body: RequestHandler;
  /** Requires a known operator. */
  readonly api: RequestHandler;
}

/**
 * Pages need no token. `/console/session` shows the session (GET), signs in (POST) and out
 * (DELETE); `/console/api/` is the admin API for sessions.
 *
 * The cookie is limited to these paths: cookies ignore ports (RFC 6265 section 8.5), and no other
 * page may call the admin API itself with it.
 */
export function consoleRoutes({
  gate,
  sessions,
  settings,
  find,
  body,
  api,
}: ConsoleParts): RequestHandler {
  const router = Router({ caseSensitive: true, strict: true });

  async function operatorOf(request: Request): Promise<Operator | null> {
    for (const id of sessionIds(request)) {
      const hash = sessions.find(id);
      const operator = hash === null ? null : await gate.holder(hash);
      if (operator) return operator;
    }
    return await gate.withoutToken();
  }

  async function sendSession(
    operator: Operator | null,
    response: Response,
  ): Promise<void> {
    const open = (await gate.withoutToken()) !== null;
    const { idleTimeout, links } = settings();
    // Links to dashboards only after sign-in.
    response.json({
      operator,
      open,
      idle: idleTimeout / 1_000,
      links: operator ? links : [],
    });
  }

  /** `hash`: of the token of a new session; `null`: none begins. */
  function replaceSession(
    request: Request,
    response: Response,
    hash: string | null,
  ): void {
    for (const id of sessionIds(request)) sessions.end(id);
    const id = hash === null ? null : sessions.begin(hash);
    response.setHeader('Set-Cookie', sessionCookie(id, request));
  }

  router
    .route('/session')
    .all(checkSource)
    .get(async (request, response) => {
      for (const id of sessionIds(request)) sessions.use(id);
      await sendSession(await operatorOf(request), response);
    })
    .post(body, async (request, response) => {
      const hash = await gate.admit(tokenIn(request), request);
      replaceSession(request, response, hash);
      await sendSession(await gate.holder(hash), response);
    })
    .delete(async (request, response) => {
      replaceSession(request, response, null);
      await sendSession(await gate.withoutToken(), response);
    })
    .all(() => {
      const headers = { Allow: 'GET, HEAD, POST, DELETE' };
      throw new AdminError(
        'method_not_allowed',
        `This path takes ${headers.Allow}.`,
        { headers },
      );
    });

  router.use('/api', checkSource, async (request, response, next) => {
    const operator = await operatorOf(request);
    if (!operator)
      throw new AdminError(
        'invalid_admin_token',
        'No session: sign in at /console/ first.',
      );
    response.locals.operator = operator;
    next();
  });
  router.use('/api', api);

  router.use(async (request, response) => {
    const reads = request.method === 'GET' || request.method === 'HEAD';
    const call = {
      ifNoneMatch: request.get('if-none-match'),
      acceptEncoding: request.get('accept-encoding'),
    };
    const page = reads ? await find(pathOf(request), call) : null;
    if (!page)
      throw new AdminError(
        'not_found',
        'The page does not exist. The console is at /console/.',
      );
    response.status(page.status);
    for (let at = 0; at < page.headers.length; at += 2)
      response.setHeader(page.headers[at]!, page.headers[at + 1]!);
    response.end(page.body);
  });

  const mounted = Router({ caseSensitive: true });
  mounted.get('/', redirectBrowsers);
  mounted.use(CONSOLE_PREFIX, router);
  return mounted;
}

export const consoleIsOff: RequestHandler = ({ path }, _response, next) => {
  if (path !== CONSOLE_PREFIX && !path.startsWith(`${CONSOLE_PREFIX}/`))
    return next();
  throw new AdminError(
    'not_found',
    'The console is switched off: see console.enabled in gateway.yaml.',
  );
};

/** Only browsers ask for HTML. */
function redirectBrowsers(
  { headers }: Request,
  response: Response,
  next: NextFunction,
): void {
  if (headers.accept?.includes('text/html'))
    response.status(303).set('Location', `${CONSOLE_PREFIX}/`).end();
  else next();
}

/** express strips the mount path. */
function pathOf({ originalUrl }: Request): string {
  return originalUrl.split('?', 1)[0]!;
}

/**
 * Only the console's own scripts may use a session: a page at another port of the host is same-site
 * and gets its cookie. Fetch Metadata shows the source; without it, requests that change something
 * have an Origin, which the listener has already checked. Typed addresses may read.
 */
function checkSource(
  { method, headers }: Request,
  _response: Response,
  next: NextFunction,
): void {
  const reads = method === 'GET' || method === 'HEAD';
  const site = headers['sec-fetch-site'];
  const own =
    site === undefined
      ? reads || headers.origin !== undefined
      : site === 'same-origin' || (reads && site === 'none');
  if (!own)
    throw new AdminError(
      'foreign_origin',
      'Only the console itself may use its session for this.',
    );
  next();
}

/** Throws AdminError, which never contains the body. */
function tokenIn(request: Request): string {
  const form = 'Send {"token": "…"} as application/json.';
  if (!request.is('application/json'))
    throw new AdminError('unsupported_media_type', form);
  let token: unknown;
  try {
    token = JSON.parse(String(request.body))?.token;
  } catch {
    throw new AdminError('invalid_request', form);
  }
  if (typeof token !== 'string') throw new AdminError('invalid_request', form);
  return token;
}
