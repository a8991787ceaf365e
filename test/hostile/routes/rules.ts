import { until } from '../../support/until.ts';
import { SWITCHED, SWITCHING } from '../../support/websocket.ts';
import { EMPTY_LIST, valuesOf } from '../recording-backend.ts';
import type { Wire } from '../wire.ts';
import type { Route, RouteName, Routes, RoutesOptions } from './routes.ts';

export interface Rule {
  /** A row of docs/routes.md. */
  readonly name: string;
  /** What the rule does at this route. */
  readonly observe: (route: Route, routes: Routes) => Promise<unknown>;
  /** The same at each route. */
  readonly expected: unknown;
  /** The page has a reason for each. */
  readonly notAt?: readonly RouteName[];
}

export interface Group {
  readonly name: string;
  readonly options: RoutesOptions;
  readonly rules: readonly Rule[];
  /** The routes are tried at the same time. */
  readonly isParallel?: boolean;
}

const CHUNKED = 'Transfer-Encoding: chunked';
const WITHOUT_BODY: readonly RouteName[] = ['WebSocket'];
/** Their bodies are checked whole. */
const CHECKED: readonly RouteName[] = [
  'operation',
  'public operation',
  'API at a path',
  'API at a host',
];
const KIB = 1024;

const STREAMING = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: \n\n';
const FORBIDDEN = 'HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\n[]';

/** A valid JSON text of this length. */
const text = (bytes: number) => `"${'x'.repeat(bytes - 2)}"`;
const ok = (fields = '', body = '[]') =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n${fields}\r\n${body}`;
/** A good response at any route. */
const good = (route: Route, fields = '') =>
  route.isTunnel ? `${SWITCHING}${fields}\r\n` : ok(fields);
const post = (route: Route, body: string) =>
  route.request('POST', [`Content-Length: ${body.length}`], body);

function answering(routes: Routes, bytes: (route: Route) => string): void {
  routes.respond((socket, { line }) => {
    const route = routes.all.find(({ path }) => line.split(' ')[1]!.startsWith(path));
    socket.write(route === undefined ? EMPTY_LIST : bytes(route));
  });
}

async function statusOf(wire: Wire): Promise<unknown> {
  const { status, code } = await wire.answer();
  return [status, code];
}

async function rejects(response: Promise<unknown>): Promise<string> {
  return response.then(
    () => 'whole',
    () => 'cut off',
  );
}

const BODIES: readonly Rule[] = [
  {
    name: 'A declared body above `http.maxBodyBytes` is 413 at once, and no backend is asked',
    notAt: WITHOUT_BODY,
    expected: [413, 'payload_too_large', 0],
    async observe(route, routes) {
      const { status, code } = await route.ask(
        route.request('POST', [`Content-Length: ${9 * KIB * KIB}`]),
      );
      return [status, code, routes.received(route).length];
    },
  },
  {
    name: 'A chunked body above it is 413 while it arrives',
    notAt: WITHOUT_BODY,
    expected: [413, 'payload_too_large'],
    async observe(route) {
      const wire = await route.connect();
      wire.send(route.request('POST', [CHUNKED]));
      for (let i = 0; i < 5; i++) wire.send(`100000\r\n${'x'.repeat(KIB * KIB)}\r\n`);
      const status = await statusOf(wire);
      wire.close();
      return status;
    },
  },
  {
    name: 'A chunked body arrives at the backend whole, in one framing',
    notAt: WITHOUT_BODY,
    expected: [200, [], ['4'], '"ab"'],
    async observe(route, routes) {
      answering(routes, good);
      const { status } = await route.ask(
        route.request('POST', [CHUNKED], '2\r\n"a\r\n2;x=y\r\nb"\r\n0\r\n\r\n'),
      );
      const received = routes.received(route).at(-1)!;
      return [
        status,
        valuesOf(received, 'transfer-encoding'),
        valuesOf(received, 'content-length'),
        received.body,
      ];
    },
  },
  {
    name: 'A body above 1 MiB arrives unchanged',
    notAt: WITHOUT_BODY,
    expected: [200, true],
    async observe(route, routes) {
      answering(routes, good);
      const body = text(3 * KIB * KIB);
      const { status } = await route.ask(post(route, body));
      return [status, routes.received(route).at(-1)!.body === body];
    },
  },
  {
    name: '`Expect: 100-continue` is served by the gateway',
    notAt: WITHOUT_BODY,
    expected: [100, 200, []],
    async observe(route, routes) {
      answering(routes, good);
      const wire = await route.connect();
      wire.send(route.request('POST', ['Content-Length: 2', 'Expect: 100-continue']));
      const interim = await wire.answer();
      const { status } = await wire.send('[]').answer();
      wire.close();
      return [interim.status, status, valuesOf(routes.received(route).at(-1)!, 'expect')];
    },
  },
];

const LATE: readonly Rule[] = [
  {
    name: 'A body that is late for `http.requestTimeout` is 408, and takes no connection',
    notAt: WITHOUT_BODY,
    expected: [408, 'request_timeout', 0],
    async observe(route, routes) {
      const before = routes.received(route).length;
      const { status, code } = await route.ask(
        route.request('POST', ['Content-Length: 100'], '"x'),
      );
      return [status, code, routes.received(route).length - before];
    },
  },
];

/** By a WebSocket handshake (RFC 6455 section 4.1). */
const NOT_ASKED = [
  SWITCHED.replace('Upgrade: websocket', 'Upgrade: foo'),
  SWITCHED.replace('Upgrade: websocket', 'Upgrade: websocket, foo'),
  SWITCHED.replace('Upgrade: websocket\r\n', ''),
  SWITCHED.replace('Connection: Upgrade\r\n', ''),
  SWITCHED.replace(/Sec-WebSocket-Accept: .*\r\n/, ''),
  SWITCHED.replace('Accept: ', 'Accept: x'),
  SWITCHED.replace('\r\n', '\r\nSec-WebSocket-Accept: x\r\n'),
  SWITCHED.replace('\r\n', '\r\nSec-WebSocket-Protocol: chat\r\n'),
  SWITCHED.replace('\r\n', '\r\nSec-WebSocket-Extensions: permessage-deflate\r\n'),
];

const RESPONSES: readonly Rule[] = [
  {
    name: 'A response later than `upstream.headersTimeout` is 504',
    expected: [504, 'upstream_timeout'],
    async observe(route, routes) {
      routes.respond(() => {});
      const { status, code } = await route.ask();
      return [status, code];
    },
  },
  {
    name: 'A response that stalls for `upstream.bodyTimeout` is cut off, never ended as if it were whole',
    notAt: ['WebSocket'],
    expected: ['cut off', 'cut off'],
    async observe(route, routes) {
      const beginnings = [
        'Content-Length: 100\r\n\r\n[1,',
        'Transfer-Encoding: chunked\r\n\r\n3\r\n[1,\r\n',
      ];
      const ends = [];
      for (const beginning of beginnings) {
        answering(routes, () => `HTTP/1.1 200 OK\r\n${beginning}`);
        ends.push(await rejects(route.ask()));
      }
      return ends;
    },
  },
  {
    name: 'A response head of up to 64 KiB passes; a larger one is 502',
    notAt: ['API with a target'],
    expected: [true, 502, 'upstream_error'],
    async observe(route, routes) {
      answering(routes, (route) => good(route, `X-Large: ${'x'.repeat(40 * KIB)}\r\n`));
      const large = await route.ask();
      answering(routes, (route) => good(route, `X-Large: ${'x'.repeat(70 * KIB)}\r\n`));
      const { status, code } = await route.ask();
      return [large.headers['x-large']?.length === 40 * KIB, status, code];
    },
  },
  {
    name: 'A response that is not valid HTTP is 502',
    expected: Array(3).fill([502, 'upstream_error']),
    async observe(route, routes) {
      const invalid = [
        'HTTP/1.1 700 No\r\n\r\n',
        'HTTP/1.1 200 OK\r\nX-A: \x01\r\n\r\n',
        'SSH-2.0-x\r\n\r\n',
      ];
      const statuses = [];
      for (const bytes of invalid) {
        answering(routes, () => bytes);
        const { status, code } = await route.ask();
        statuses.push([status, code]);
      }
      return statuses;
    },
  },
  {
    name: 'A 101 response that the client did not ask for is 502',
    expected: [['502 upstream_error'], 200],
    async observe(route, routes) {
      const outcomes = new Set<string>();
      for (const bytes of route.isTunnel ? NOT_ASKED : [SWITCHED]) {
        answering(routes, () => bytes);
        const { status, code } = await route.ask();
        outcomes.add(`${status} ${code}`);
      }
      answering(routes, good);
      const { status } = await route.ask();
      return [[...outcomes], route.isTunnel ? status + 99 : status];
    },
  },
  {
    name: 'Interim responses (1xx) are not returned',
    notAt: ['WebSocket'],
    expected: 200,
    async observe(route, routes) {
      answering(routes, () => `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${ok()}`);
      return (await route.ask()).status;
    },
  },
  {
    name: 'A response before the end of a streamed body reaches the client',
    notAt: [...CHECKED, 'WebSocket'],
    expected: 403,
    async observe(route, routes) {
      routes.backend.respondToHeads = (socket) => void socket.write(FORBIDDEN);
      const wire = await route.connect();
      wire.send(
        route.request('POST', [`Content-Length: ${3 * KIB * KIB}`], 'x'.repeat(2 * KIB * KIB)),
      );
      const { status } = await wire.answer();
      wire.close();
      routes.backend.respondToHeads = null;
      return status;
    },
  },
];

/** Of a token (RFC 9110 section 5.6.2), but for letters and digits. */
const SEPARATORS = [..."!#$%&'*+.^_`|~"];

/** What the gateway sets, checks, or removes because a backend may trust it. */
const PROTECTED = [
  'X-Storegate-Scopes',
  'X-Storegate-Account',
  'x-storegate-key-id',
  'X-Real-IP',
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'Forwarded-For',
  'X-API-Key',
  'X-Request-ID',
  'X-Amzn-Oidc-Identity',
  'X-Auth-Request-User',
  'Remote-User',
  'X-Original-URL',
  'X-HTTP-Method-Override',
  'Proxy-Authorization',
  'Content-Length',
  'Transfer-Encoding',
  'Content-Type',
  'Content-Encoding',
];

const FIELDS: readonly Rule[] = [
  {
    name: 'Hop-by-hop fields pass in neither direction, and clients cannot set fields of the gateway',
    expected: [[], [], [], ['acme'], ['127.0.0.1'], false, undefined, '2'],
    async observe(route, routes) {
      const theirs =
        'Keep-Alive: timeout=7\r\nProxy-Authenticate: x\r\nRateLimit: x\r\nX-Kept: 2\r\n';
      answering(routes, (route) => good(route, theirs));
      const forged = [
        'X-Storegate-Account: other-client',
        'X_Storegate_Account: other-client',
        'X-Forwarded-For: 6.6.6.6',
      ];
      const headers = ['Keep-Alive: 1', 'TE: trailers', 'Proxy-Authorization: x', ...forged];
      const response = await route.ask(route.request('GET', headers));
      const received = routes.received(route).at(-1)!;
      const of = (name: string) => valuesOf(received, name);
      const account = route.name === 'public operation' ? ['acme'] : of('x-storegate-account');
      return [
        [...of('keep-alive'), ...of('te'), ...of('proxy-authorization')],
        of('x-api-key'),
        of('x_storegate_account'),
        account,
        of('x-forwarded-for'),
        response.headers['keep-alive'] === 'timeout=7',
        response.headers['proxy-authenticate'],
        response.headers['x-kept'],
      ];
    },
  },
  {
    name: 'A field whose name some backends read as one of the gateway, such as `X.Real_IP`, does not pass',
    expected: { forged: [], statuses: [200], withSpace: [400, 400] },
    async observe(route, routes) {
      answering(routes, (route) => good(route));
      const statuses = new Set<number>();
      const before = routes.received(route).length;
      for (const separator of SEPARATORS) {
        const forged = PROTECTED.map((name) => `${name.replaceAll('-', separator)}: forged`);
        const { status } = await route.ask(route.request('GET', forged));
        statuses.add(route.isTunnel ? status + 99 : status);
      }
      const received = routes.received(route).slice(before);
      const withSpace = [];
      for (const name of ['X Real IP', 'X[Real-IP']) {
        const { status } = await route.ask(route.request('GET', [`${name}: forged`]));
        withSpace.push(status);
      }
      return {
        forged: received.flatMap(({ headers }) =>
          headers.filter(([, value]) => value.includes('forged')),
        ),
        statuses: [...statuses],
        withSpace,
      };
    },
  },
  {
    name: 'Rules of `headers` set and remove fields in both directions, whatever the other side sends',
    expected: [['ours'], [], 'ours', undefined, undefined],
    async observe(route, routes) {
      const theirs = 'X-Set: theirs\r\nx-set: theirs\r\nServer: theirs\r\nX-Accel-Redirect: /a\r\n';
      answering(routes, (route) => good(route, theirs));
      const forged = ['X-Set: forged', 'x_set: forged', 'X-Removed: forged', 'Connection: X-Set'];
      const { headers } = await route.ask(
        route.request('GET', route.isTunnel ? forged.slice(0, 3) : forged),
      );
      const received = routes.received(route).at(-1)!;
      const forgedIn = received.headers.filter(([, value]) => value === 'forged');
      return [
        valuesOf(received, 'x-set'),
        forgedIn,
        headers['x-set'],
        headers.server,
        headers['x-accel-redirect'],
      ];
    },
  },
  {
    name: 'Repeated fields keep their number, order and, in requests, spelling',
    notAt: ['API with a target'],
    expected: [
      ['X-MiXed: 1', 'X-MiXed: 2', 'User-Agent: a', 'User-Agent: b'],
      ['Basic', 'Bearer', '1', '2'],
    ],
    async observe(route, routes) {
      const theirs = [
        'WWW-Authenticate: Basic',
        'WWW-Authenticate: Bearer',
        'Set-Cookie: 1',
        'Set-Cookie: 2',
      ];
      answering(routes, (route) => good(route, `${theirs.join('\r\n')}\r\n`));
      const wire = await route.connect();
      const sent = ['X-MiXed: 1', 'X-MiXed: 2', 'User-Agent: a', 'User-Agent: b'];
      wire.send(route.request('GET', sent));
      const lines = await wire.lines();
      wire.close();
      const { headers } = routes.received(route).at(-1)!;
      const received = headers.map((pair) => pair.join(': ')).filter((line) => sent.includes(line));
      const returned = lines.filter((line) => /^(www-authenticate|set-cookie): /i.test(line));
      return [received, returned.map((line) => line.slice(line.indexOf(':') + 2))];
    },
  },
  {
    name: 'The path and the query arrive as the client spelt them',
    expected: [200, true],
    async observe(route, routes) {
      const encoded = `/%${route.path.charCodeAt(1).toString(16)}${route.path.slice(2)}?a=%7e&b=[1]&?`;
      routes.respond((socket) => void socket.write(good(route)));
      const { status } = await route.ask(route.request('GET', [], '', encoded));
      return [
        route.isTunnel ? status + 99 : status,
        routes.backend.requests.at(-1)!.line === `GET ${encoded} HTTP/1.1`,
      ];
    },
  },
  {
    name: '`Via` names the gateway in both directions, and a request that comes back is 508',
    expected: [true, 508, 'loop_detected'],
    async observe(route, routes) {
      answering(routes, good);
      const { headers } = await route.ask();
      const via = `${headers.via}`;
      const [received] = valuesOf(routes.received(route).at(-1)!, 'via');
      const { status, code } = await route.ask(route.request('GET', [`Via: ${via}`]));
      return [received === via, status, code];
    },
  },
  {
    name: 'Each response has the limit headers and X-Request-Id of the gateway',
    expected: [true, true, true],
    async observe(route, routes) {
      const theirs = 'X-RateLimit-Limit: 7\r\nX-RateLimit-Left: 7\r\nX-Request-Id: theirs\r\n';
      answering(routes, (route) => good(route, theirs));
      const { headers } = await route.ask();
      return [
        Number(headers['x-ratelimit-limit']) > 7 && headers['x-ratelimit-left'] === undefined,
        /^\d{10}$/.test(headers['x-ratelimit-reset'] ?? ''),
        /^[0-9a-f-]{36}$/.test(headers['x-request-id'] ?? ''),
      ];
    },
  },
  {
    name: 'The cost that a response reports is charged, and its field is not returned',
    notAt: ['WebSocket'],
    expected: [undefined, 5],
    async observe(route, routes) {
      const costing = async (units: number) => {
        answering(routes, (route) => good(route, `X-Usage-Units: ${units}\r\n`));
        return (await route.ask()).headers;
      };
      const before = Number((await costing(0))['x-ratelimit-remaining']);
      const headers = await costing(5);
      return [headers['x-usage-units'], before - Number(headers['x-ratelimit-remaining'])];
    },
  },
  {
    name: 'The CORS fields are those of the gateway',
    notAt: ['WebSocket'],
    expected: ['*', undefined],
    async observe(route, routes) {
      answering(routes, (route) =>
        good(route, 'Access-Control-Allow-Origin: x\r\nAccess-Control-Allow-Methods: x\r\n'),
      );
      const { headers } = await route.ask(route.request('GET', ['Origin: https://a.example']));
      return [headers['access-control-allow-origin'], headers['access-control-allow-methods']];
    },
  },
];

const CONNECTIONS: readonly Rule[] = [
  {
    name: 'A GET whose kept connection dies before a response is sent again once',
    notAt: ['WebSocket'],
    expected: [200, 2],
    async observe(route, routes) {
      answering(routes, good);
      await route.ask();
      const before = routes.received(route).length;
      routes.respond((socket) =>
        routes.received(route).length === before + 1 ? socket.destroy() : socket.write(good(route)),
      );
      const { status } = await route.ask();
      return [status, routes.received(route).length - before];
    },
  },
  {
    name: 'A POST is never sent twice after a backend has received it',
    notAt: WITHOUT_BODY,
    expected: [502, 'upstream_error', 1],
    async observe(route, routes) {
      answering(routes, good);
      await route.ask(post(route, '[]'));
      const before = routes.received(route).length;
      routes.respond((socket) => socket.destroy());
      const { status, code } = await route.ask(post(route, '[]'));
      return [status, code, routes.received(route).length - before];
    },
  },
  {
    name: 'A failed request frees its place in the `concurrency` of its plan',
    expected: [502, 502, 502, true],
    async observe(route, routes) {
      routes.respond((socket) => socket.destroy());
      const failed = [];
      for (let i = 0; i < 3; i++) failed.push((await route.ask()).status);
      answering(routes, good);
      return [...failed, [101, 200].includes((await route.ask()).status)];
    },
  },
  {
    name: 'A client that disconnects ends its request at the backend within a second, also if the backend is silent',
    expected: [true, true, true],
    async observe(route, routes) {
      const ends = [];
      const begun = route.isTunnel ? good(route) : STREAMING;
      for (const [bytes, behind] of [
        ['', ''],
        ['', 'GET /'],
        [begun, ''],
      ] as const) {
        let isClosed = false;
        routes.respond((socket) => {
          socket.write(bytes);
          socket.once('close', () => {
            isClosed = true;
          });
        });
        const before = routes.received(route).length;
        const wire = await route.connect();
        wire.send(route.request('GET') + behind);
        await until(
          `the backend has it of ${route.name}`,
          () => routes.received(route).length > before,
        );
        if (bytes !== '') await wire.lines();
        wire.socket.end();
        await until('the backend sees the end of it', () => isClosed);
        ends.push(isClosed);
        wire.close();
      }
      return ends;
    },
  },
];

const SLOW: readonly Rule[] = [
  {
    name: 'Bodies slower than `http.minBodyRate` are 408, and take no connection from others meanwhile',
    notAt: WITHOUT_BODY,
    expected: [200, 408, 408, 408],
    async observe(route, routes) {
      answering(routes, good);
      const slow = await Promise.all([1, 2, 3].map(() => route.connect()));
      for (const wire of slow) wire.send(route.request('POST', ['Content-Length: 1000'], '"x'));
      const { status } = await route.ask();
      const ends = await Promise.all(slow.map((wire) => wire.answer()));
      for (const wire of slow) wire.close();
      return [status, ...ends.map(({ status }) => status)];
    },
  },
];

const LIMITS: readonly Rule[] = [
  {
    name: 'A request without a valid key is 401',
    notAt: ['public operation'],
    expected: [401, 0],
    async observe(route, routes) {
      const { status } = await route.ask(
        route.request('GET').replace(/X-API-Key: \S+/, 'X-API-Key: sg_test_x'),
      );
      return [status, routes.received(route).length];
    },
  },
  {
    name: 'A request beyond a limit is 429 with Retry-After, and no backend is asked',
    expected: [[0, 429, 'rate_limit_exceeded', true], 3],
    async observe(route, routes) {
      answering(routes, good);
      for (let i = 0; i < 3; i++) await route.ask();
      const { status, code, headers } = await route.ask();
      const remaining = Number(headers['x-ratelimit-remaining']);
      return [
        [remaining, status, code, Number(headers['retry-after']) > 0],
        routes.received(route).length,
      ];
    },
  },
  {
    name: 'A client that keeps sending after 429 is banned',
    notAt: ['public operation'],
    expected: [403, 'key_banned'],
    async observe(route) {
      let response = await route.ask();
      for (let i = 0; i < 20 && response.status === 429; i++) response = await route.ask();
      return [response.status, response.code];
    },
  },
];

const HEADS: readonly Rule[] = [
  {
    name: 'A request head above `http.maxHeaderBytes` is 431',
    expected: [431, 'headers_too_large'],
    async observe(route) {
      const { status, code } = await route.ask(
        route.request('GET', [`X-Large: ${'x'.repeat(20 * KIB)}`]),
      );
      return [status, code];
    },
  },
  {
    name: 'A path with dot segments or an encoded slash is 400',
    expected: [400, 400],
    async observe(route) {
      const statuses = [];
      for (const end of ['/../b', '/b%2Fc']) {
        const { status } = await route.ask(route.request('GET', [], '', route.path + end));
        statuses.push(status);
      }
      return statuses;
    },
  },
  {
    name: 'A backend that accepts no connection within `upstream.connectTimeout` is 502',
    expected: [502, 'upstream_unavailable'],
    async observe(route) {
      const { status, code } = await route.ask();
      return [status, code];
    },
  },
];

const LARGE: readonly Rule[] = [
  {
    name: 'While requests wait for a connection, a streamed upload slower than `upstream.minResponseRate` is 408',
    notAt: [...CHECKED, 'API with a target', 'WebSocket'],
    expected: [200, 408],
    async observe(route, routes) {
      answering(routes, good);
      const wire = await route.connect();
      wire.send(
        route.request('POST', [`Content-Length: ${2 * KIB * KIB}`], 'x'.repeat(1500 * KIB)),
      );
      await until('the upload has a connection', () => routes.backend.arriving === 1);
      const { status } = await route.ask();
      const late = await wire.answer();
      wire.close();
      return [status, late.status];
    },
  },
  {
    name: 'While requests wait for a connection, a response that is read more slowly is cut off',
    notAt: ['API with a target', 'WebSocket'],
    expected: [200, 'cut off'],
    async observe(route, routes) {
      const body = 'x'.repeat(32 * KIB * KIB);
      let count = 0;
      answering(routes, () => ok('', count++ === 0 ? body : '[]'));
      const wire = await route.connect();
      wire.socket.pause();
      wire.send(route.request('GET'));
      await until('the download has begun', () => count === 1);
      const { status } = await route.ask();
      wire.socket.resume();
      const end = await rejects(wire.answer());
      wire.close();
      return [status, end];
    },
  },
  {
    name: 'Bodies on their way use at most `http.bodyBudget`; if it is used up, one of them gets 503',
    notAt: WITHOUT_BODY,
    expected: [true, 200],
    async observe(route, routes) {
      answering(routes, good);
      const wires = await Promise.all(Array.from({ length: 30 }, () => route.connect()));
      const part = route.request('POST', [`Content-Length: ${900 * KIB}`], text(800 * KIB));
      const refused = wires.map((wire) => wire.send(part).answer());
      const { status, code } = await Promise.race(refused);
      for (const wire of wires) wire.close();
      await Promise.allSettled(refused);
      return [
        status === 503 && code === 'gateway_busy',
        (await route.ask(post(route, text(100)))).status,
      ];
    },
  },
];

const UPLOADS: readonly Rule[] = [
  {
    name: 'Streamed uploads hold at most half of `upstream.connections`; others wait, and no other request does',
    notAt: [...CHECKED, 'API with a target', 'WebSocket'],
    expected: [200, 200, 2, [200, 200, 200]],
    async observe(route, routes) {
      answering(routes, good);
      const upload = route.request(
        'POST',
        [`Content-Length: ${2 * KIB * KIB}`],
        'x'.repeat(1500 * KIB),
      );
      const wires = await Promise.all(Array.from({ length: 3 }, () => route.connect()));
      for (const wire of wires) wire.send(upload);
      await until('two uploads have a connection', () => routes.backend.arriving === 2);
      const statuses = [];
      for (let i = 0; i < 2; i++) statuses.push((await route.ask()).status);
      const { arriving } = routes.backend;
      const ends = wires.map((wire) => wire.send('x'.repeat(548 * KIB)).answer());
      const ended = (await Promise.all(ends)).map(({ status }) => status);
      for (const wire of wires) wire.close();
      return [...statuses, arriving, ended];
    },
  },
];

const STOP: readonly Rule[] = [
  {
    name: 'A stop lets requests in flight finish',
    notAt: ['WebSocket'],
    expected: 200,
    async observe(route, routes) {
      routes.respond((socket) => void routes.waiting.push(socket));
      const wire = await route.connect();
      wire.send(route.request('GET'));
      await until(
        'all requests are in flight',
        () => routes.waiting.length === routes.all.length - 1,
      );
      routes.stop((socket) => socket.write(ok()));
      const { status } = await wire.answer();
      wire.close();
      return status;
    },
  },
];

const HEADER_RULES =
  'headers: { request: { set: { X-Set: ours }, remove: [X-Removed] }, response: { set: { X-Set: ours }, remove: [Server, X-Accel-Redirect] } }\n';
const FEW_PLANS =
  'plans: { free: { windows: [{ limit: 3, per: minute }] } }\npublic: { windows: [{ limit: 3, per: minute }] }\nbans: { workers: 1, strikes: 2, grace: 0ms }\n';
const PLANS =
  'plans: { free: { windows: [{ limit: 100000, per: minute }] } }\npublic: { windows: [{ limit: 100000, per: minute }] }\n';
const upstream = (...more: string[]) =>
  `upstream: { ${['ejection: { enabled: false }', ...more].join(', ')} }\n`;

const USUAL = {
  plans: PLANS.replace('}] }', '}], concurrency: 2 }'),
  settings: `http: { maxBodyBytes: 4MiB, bodyBudget: 64MiB }\ncost: { header: X-Usage-Units }\n${HEADER_RULES}${upstream()}`,
};

export const GROUPS: readonly Group[] = [
  { name: 'bodies', options: USUAL, rules: BODIES, isParallel: true },
  {
    name: 'late bodies',
    options: {
      plans: PLANS,
      settings: `http: { headersTimeout: 2s, requestTimeout: 2s }\n${upstream()}`,
    },
    rules: LATE,
    isParallel: true,
  },
  {
    name: 'responses',
    options: {
      plans: PLANS,
      settings: `http: { maxBodyBytes: 4MiB }\n${upstream('headersTimeout: 500ms', 'bodyTimeout: 300ms')}`,
    },
    rules: RESPONSES,
  },
  { name: 'fields', options: USUAL, rules: FIELDS },
  { name: 'connections', options: USUAL, rules: CONNECTIONS },
  {
    name: 'slow clients',
    options: {
      plans: PLANS,
      settings: `http: { minBodyRate: 1KiB }\n${upstream('connections: 1')}`,
    },
    rules: SLOW,
    isParallel: true,
  },
  { name: 'limits', options: { plans: FEW_PLANS, settings: upstream() }, rules: LIMITS },
  {
    name: 'heads and connections',
    options: { plans: PLANS, settings: upstream('connectTimeout: 500ms'), isUnreachable: true },
    rules: HEADS,
  },
  {
    name: 'large bodies',
    options: {
      plans: PLANS,
      settings: `http: { maxBodyBytes: 2MiB, bodyBudget: 16MiB }\n${upstream('connections: 1')}`,
    },
    rules: LARGE,
  },
  {
    name: 'uploads',
    options: {
      plans: PLANS,
      settings: `http: { maxBodyBytes: 2MiB, bodyBudget: 16MiB }\n${upstream('connections: 4')}`,
    },
    rules: UPLOADS,
  },
  { name: 'a stop', options: USUAL, rules: STOP, isParallel: true },
];
