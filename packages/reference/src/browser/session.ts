import type { Secrets } from './key.ts';
import { type Api, type Row, urlOf } from './model/api.ts';
import {
  credentialsOf,
  type KeyHeaders,
  keyField,
} from './model/credentials.ts';
import type { SecurityScheme } from './model/document.ts';
import {
  type Credentials,
  type Draft,
  type OutgoingRequest,
  requestOf,
} from './model/request.ts';

/**
 * The request of a draft, as it is sent or as people see it: they share screens and notes, so
 * placeholders replace secrets. `server`: index of the chosen server.
 */
export type MakeRequest = (
  row: Row,
  draft: Draft,
  server: number,
  use: 'send' | 'show',
) => OutgoingRequest;

interface Keys {
  readonly headers: KeyHeaders;
  readonly schemes: ReadonlyMap<string, SecurityScheme>;
  readonly secrets: Secrets;
}

const NONE: Credentials = { headers: [], query: [], cookies: [] };
const TOKEN: Credentials = {
  ...NONE,
  headers: [['Authorization', 'Bearer YOUR_TOKEN']],
};

/** Secrets are sent to the gateway only: to the origin of the page, and to that of the API. */
export function clientRequests(
  api: Api,
  { headers, schemes, secrets }: Keys,
): MakeRequest {
  const origins = new Set([
    location.origin,
    ...api.servers.map((one) => new URL(urlOf(one), location.origin).origin),
  ]);
  return (row, draft, server, use) => {
    const base = baseOf(api, row, server);
    const isShown = use === 'show';
    const key = isShown ? 'YOUR_KEY' : secrets.get('key');
    const secretOf = (name: string) =>
      isShown ? 'YOUR_TOKEN' : secrets.get(name);
    const field = key === null ? null : keyField(headers, key);
    const isOurs = origins.has(new URL(base).origin);
    const credentials = isOurs
      ? credentialsOf(schemes, api.schemes(row), field, secretOf)
      : NONE;
    return requestOf(api, row, base, draft, credentials);
  };
}

/** The browser adds the cookie of the session. Programs use a token, at the root of the listener. */
export const operatorRequests =
  (api: Api): MakeRequest =>
  (row, draft, server, use) => {
    const base = baseOf(api, row, server);
    return use === 'send'
      ? requestOf(api, row, base, draft, NONE)
      : requestOf(api, row, base.replace('/console/api', ''), draft, TOKEN);
  };

/** Absolute, as programs need it. */
const baseOf = (api: Api, row: Row, server: number): string =>
  new URL(api.server(row, server) || '/', location.origin).href.replace(
    /\/$/,
    '',
  );
