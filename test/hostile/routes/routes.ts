import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BlackHole, startBlackHole } from '../../support/black-hole.ts';
import { TestGateway } from '../../support/gateway.ts';
import { HANDSHAKE_LINES } from '../../support/websocket.ts';
import { RecordingBackend, type Respond } from '../recording-backend.ts';
import { Wire, type WireAnswer } from '../wire.ts';

export const ROUTES = [
  'operation',
  'public operation',
  'API at a path',
  'API at a host',
  'API without a contract',
  'API with a target',
  'none',
  'WebSocket',
] as const;
export type RouteName = (typeof ROUTES)[number];

const JSON_BODY = { content: { 'application/json': { schema: {} } } };
const RESPONSES = { 200: { description: 'Good.' } };

interface Place {
  readonly name: RouteName;
  /** At the backend. */
  readonly path: string;
  readonly gateway: TestGateway;
  /** Before `path`, for clients only. */
  readonly below?: string;
  readonly host?: string;
}

/** One way to the backend. */
export class Route {
  readonly name: RouteName;
  readonly path: string;
  readonly below: string;
  readonly #host: string;
  readonly #gateway: TestGateway;
  readonly #secret: string;

  constructor({ name, path, gateway, below = '', host = 'api.example' }: Place, secret: string) {
    this.name = name;
    this.path = path;
    this.below = below;
    this.#host = host;
    this.#gateway = gateway;
    this.#secret = secret;
  }

  get isTunnel(): boolean {
    return this.name === 'WebSocket';
  }

  connect(): Promise<Wire> {
    return Wire.open(this.#gateway.url);
  }

  /** `headers` are whole lines without line ends. `path`: with a query, as the backend gets it. */
  request(method: string, headers: readonly string[] = [], body = '', path = this.path): string {
    const target = this.below + path;
    const all = [`Host: ${this.#host}`, ...headers];
    if (this.name !== 'public operation') all.push(`X-API-Key: ${this.#secret}`);
    if (this.isTunnel) all.push(...HANDSHAKE_LINES);
    if (method === 'POST') all.push('Content-Type: application/json');
    return `${method} ${target} HTTP/1.1\r\n${all.map((line) => `${line}\r\n`).join('')}\r\n${body}`;
  }

  async ask(bytes = this.request('GET')): Promise<WireAnswer> {
    const wire = await this.connect();
    try {
      return await wire.send(bytes).answer();
    } finally {
      wire.close();
    }
  }
}

export interface RoutesOptions {
  readonly settings?: string;
  readonly plans?: string;
  /** No backend accepts connections. */
  readonly isUnreachable?: boolean;
}

/** All routes of the gateway, in front of one backend. */
export class Routes {
  readonly backend: RecordingBackend;
  readonly all: readonly Route[];
  /** Connections of requests without a response. */
  readonly waiting: Socket[] = [];
  readonly #parts: Parts;
  #stopping: Promise<unknown> | null = null;

  private constructor(backend: RecordingBackend, parts: Parts) {
    this.backend = backend;
    this.#parts = parts;
    this.all = parts.all;
  }

  static async open({
    settings = '',
    plans,
    isUnreachable = false,
  }: RoutesOptions = {}): Promise<Routes> {
    const folder = mkdtempSync(join(tmpdir(), 'storegate-routes-'));
    const backend = await RecordingBackend.start();
    const hole = isUnreachable ? await startBlackHole() : null;
    const url = hole?.url ?? backend.url;
    const file = join(folder, 'openapi.json');
    writeFileSync(file, JSON.stringify(contract()));
    const apis = [
      `{ name: path, path: /below, contract: "${file}" }`,
      `{ name: host, host: at.example, contract: "${file}" }`,
      '{ name: upstream, path: /upstream, contract: none, stripPath: false }',
      `{ name: target, path: /target, contract: none, stripPath: false, target: "${url}" }`,
      '{ name: live, path: /live, contract: none, stripPath: false, websocket: true }',
    ];
    const options = { backendUrl: url, ...(plans === undefined ? {} : { plans }) };
    const described = await TestGateway.start({
      ...options,
      settings: `contract: { file: "${file}", unknownQuery: pass }\napis: [${apis.join(', ')}]\n${settings}`,
    });
    const undescribed = await TestGateway.start({
      ...options,
      settings,
      env: { STOREGATE_CONTRACT: 'none' },
    });
    const gateway = described;
    const places: readonly Place[] = [
      { name: 'operation', path: '/operation', gateway },
      { name: 'public operation', path: '/public', gateway },
      { name: 'API at a path', path: '/at-path', gateway, below: '/below' },
      { name: 'API at a host', path: '/at-host', gateway, host: 'at.example' },
      { name: 'API without a contract', path: '/upstream/a', gateway },
      { name: 'API with a target', path: '/target/a', gateway },
      { name: 'none', path: '/none', gateway: undescribed },
      { name: 'WebSocket', path: '/live/a', gateway },
    ];
    const all: Route[] = [];
    for (const place of places) {
      const { secret } = await place.gateway.key();
      all.push(new Route(place, secret));
    }
    return new Routes(backend, { folder, hole, gateways: [described, undescribed], all });
  }

  respond(respond: Respond): void {
    this.backend.respond = respond;
  }

  /** The requests of a route that have reached the backend. */
  received({ path }: Route) {
    return this.backend.requests.filter(({ line }) => line.split(' ')[1]!.startsWith(path));
  }

  /**
   * Stops the gateways, and then calls `respond` for each waiting request. Only the first call
   * counts.
   */
  stop(respond: (socket: Socket) => void): void {
    if (this.#stopping !== null) return;
    this.#stopping = Promise.all(this.#parts.gateways.map((gateway) => gateway.stop()));
    for (const socket of this.waiting) respond(socket);
  }

  async close(): Promise<void> {
    this.stop(() => {});
    await this.#stopping;
    await this.backend.close();
    await this.#parts.hole?.close();
    rmSync(this.#parts.folder, { recursive: true });
  }
}

interface Parts {
  readonly folder: string;
  readonly hole: BlackHole | null;
  readonly gateways: readonly TestGateway[];
  readonly all: readonly Route[];
}

function contract(): object {
  const both = (id: string, more: object = {}) => ({
    get: { operationId: `get-${id}`, responses: RESPONSES, ...more },
    post: { operationId: `post-${id}`, requestBody: JSON_BODY, responses: RESPONSES, ...more },
  });
  return {
    openapi: '3.1.0',
    info: { title: 'Routes', version: '1' },
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
    security: [{ key: [] }],
    paths: {
      '/operation': both('operation'),
      '/public': both('public', { security: [] }),
      '/at-path': both('at-path'),
      '/at-host': both('at-host'),
    },
  };
}
