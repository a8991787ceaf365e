import type { Exchange, ExchangeApi } from '../../src/gateway/exchange.ts';
import type { Admitted, KnownClient, Target } from '../../src/gateway/results.ts';
import type { Route, RouteMatch } from '../../src/gateway/routes.ts';
import { createRequestFields } from '../../src/gateway/upstream/headers.ts';
import { createFieldNames, createReturnedNames } from '../../src/gateway/wire/fields.ts';
import { readHead } from '../../src/gateway/wire/head.ts';
import { parseTarget } from '../../src/gateway/wire/target.ts';
import { Via } from '../../src/gateway/wire/via.ts';
import type { Limits } from '../../src/limits/limits.ts';
import { NO_SCOPES } from '../../src/limits/scopes.ts';
import type { Client } from '../../src/records/keys/key.ts';
import { looseCall } from './call.ts';
import { limits, MINUTE, window } from './limits.ts';

/** Of a gateway with one API. */
export const exchangeApi: ExchangeApi = {
  name: null,
  none: 'none',
  stripped: '',
  undescribed: { name: 'undescribed', path: '/*' },
  document: '/openapi.json',
  report: () => [],
  scopes: NO_SCOPES,
};

export const fieldNames = createFieldNames({ strip: [] });
export const via = new Via(Buffer.from('of tests'));
export const returnedNames = createReturnedNames({ cors: false, via });

const IDENTITY = {
  keyId: 'X-Storegate-Key-Id',
  account: 'X-Storegate-Account',
  plan: 'X-Storegate-Plan',
  scopes: 'X-Storegate-Scopes',
};

export const requestFields = createRequestFields(IDENTITY, via);

export function exchangeOf(
  method = 'GET',
  headers: Readonly<Record<string, string>> = {},
  given: Partial<Exchange> = {},
): Exchange {
  const { call } = given.call ? { call: given.call } : looseCall(method, headers);
  return {
    id: 'request-1',
    call,
    api: exchangeApi,
    head: readHead(call.fields.list, fieldNames),
    address: '192.0.2.1',
    behindProxy: false,
    span: null,
    backend: null,
    startedAt: 0,
    authenticatedAt: 0,
    admittedAt: 0,
    step: 'http',
    route: null,
    client: null,
    operation: null,
    usage: null,
    deciding: null,
    admission: null,
    cost: 1,
    scopes: [],
    code: null,
    refusal: null,
    reported: null,
    forwardedAt: 0,
    respondedAt: 0,
    cancel: null,
    ...given,
  };
}

export function targetOf(url: string): Target {
  return parseTarget(url) as Target;
}

export function routeOf(given: Partial<Route> = {}): Route {
  return {
    name: null,
    operation: null,
    cost: 1,
    scopes: [],
    maxBodyBytes: 1024 ** 2,
    headersTimeout: null,
    websocket: false,
    reportsCost: true,
    send: () => Promise.reject(new Error('nothing is forwarded')),
    rewriting: null,
    ...given,
  };
}

export function matchOf(given: Partial<Route> = {}): RouteMatch {
  return { kind: 'route', route: routeOf(given), parameters: [] };
}

const CLIENT: Client & { readonly limits: Limits } = {
  keyId: 'key_1',
  account: 'acme',
  plan: 'free',
  subject: 'key:key_1',
  limits: limits([window(60, MINUTE)]),
  concurrency: null,
  owner: { group: 'free', weight: 1, member: 'acme' },
  expiresAt: null,
  withdrawn: null,
  addresses: null,
  scopes: [],
  apis: null,
  retiresAt: null,
};

export function foundClient(given: Partial<Client> = {}): Client {
  return { ...CLIENT, ...given };
}

export function knownClient(given: Partial<Client> = {}): KnownClient {
  return { ...CLIENT, ...given } as KnownClient;
}

export function admittedClient(given: Partial<Client> = {}): Admitted {
  return { ...CLIENT, ...given } as Admitted;
}
