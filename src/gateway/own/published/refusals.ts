import type { Json } from '@storegate/openapi';
import { ERROR_CODES } from '../../../common/errors/catalogue.ts';

const count = (description: string) => ({
  description,
  required: true,
  schema: { type: 'integer', minimum: 0 },
});
const text = (description: string, required: boolean) => ({
  description,
  required,
  schema: { type: 'string' },
});

const LIMITS = {
  'X-RateLimit-Limit': count(
    'The limit of the window with the least left, or of the window that is used up.',
  ),
  'X-RateLimit-Remaining': count('Units left in that window.'),
  'X-RateLimit-Reset': count('When units return, in Unix seconds.'),
  RateLimit: text(
    'All windows: units left (`r`) and seconds to the reset (`t`).',
    true,
  ),
  'RateLimit-Policy': text(
    'All windows: units (`q`) and length in seconds (`w`).',
    true,
  ),
  'X-Request-Id': text('Quote it when you ask for help.', true),
};

const wait = (required: boolean) => ({
  ...count('Seconds to wait before the next request.'),
  required,
});

const REFUSALS = {
  401: {
    name: 'GatewayUnauthorized',
    description: 'The API key is missing or not valid.',
    headers: {
      'WWW-Authenticate': text('How to authenticate (RFC 9110).', true),
    },
  },
  403: {
    name: 'GatewayForbidden',
    description: 'The API key is banned or restricted.',
    headers: { 'Retry-After': wait(false) },
  },
  429: {
    name: 'GatewayTooManyRequests',
    description: 'A limit is used up.',
    headers: {
      'Retry-After': wait(true),
      'X-Ban-Warning': text(
        'Whether a request before `Retry-After` bans the key.',
        false,
      ),
    },
  },
};

const ERROR_SCHEMA = {
  type: 'object',
  required: ['code', 'message', 'status'],
  properties: {
    code: { type: 'string', description: 'For programs: does not change.' },
    message: { type: 'string', description: 'For people.' },
    status: { type: 'integer', description: 'The HTTP status code.' },
  },
};

export interface Refusals {
  readonly schemas: Readonly<Json>;
  readonly responses: Readonly<Json>;
  /** By status: references to `responses`. */
  readonly byStatus: Readonly<Record<string, Json>>;
  /** 503 of the gateway's own operation. */
  readonly unavailable: Json;
}

/** Components for refusals of the gateway. */
export function createRefusals(nameOf: (name: string) => string): Refusals {
  const errorName = nameOf('GatewayError');
  const errorSchema = { $ref: `#/components/schemas/${errorName}` };
  const responses: Json = {};
  const byStatus: Record<string, Json> = {};
  for (const [status, { name, description, headers }] of Object.entries(
    REFUSALS,
  )) {
    const free = nameOf(name);
    const content = {
      'application/json': {
        schema: errorSchema,
        examples: examplesOf(Number(status)),
      },
    };
    responses[free] = {
      description,
      headers: { ...LIMITS, ...headers },
      content,
    };
    byStatus[status] = { $ref: `#/components/responses/${free}` };
  }
  const unavailable = {
    description: 'The counters cannot be read at the moment.',
    headers: { ...LIMITS, 'Retry-After': wait(true) },
    content: { 'application/json': { schema: errorSchema } },
  };
  return {
    schemas: { [errorName]: ERROR_SCHEMA },
    responses,
    byStatus,
    unavailable,
  };
}

/** The page of errors has the advice, which depends on settings. */
function examplesOf(status: number): Json {
  const codes = ERROR_CODES.filter((entry) => entry.status === status);
  return Object.fromEntries(
    codes.map(({ code, title }) => [
      code,
      { value: { code, message: title, status } },
    ]),
  );
}
