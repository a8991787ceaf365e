import type { Json } from '@storegate/openapi';
import { type Code, errorCodesOf } from '../../../common/errors/catalogue.ts';
import own from './gateway.openapi.json' with { type: 'json' };

/** Of a route, as far as it decides how the gateway may refuse a request. */
export interface RefusalFacts {
  readonly needsKey: boolean;
  readonly hasPathParameters: boolean;
  readonly takesBody: boolean;
  /** Whether bodies that do not match are refused. */
  readonly checksBody: boolean;
  readonly requiresScopes: boolean;
  readonly endsAtSunset: boolean;
  /** `false`: the gateway responds itself. */
  readonly hasBackend: boolean;
}

type When = (facts: RefusalFacts) => boolean;

const always: When = () => true;
/** Of HTTP itself or of paths without an operation. */
const elsewhere: When = () => false;
const withKey: When = ({ needsKey }) => needsKey;
const withBody: When = ({ takesBody }) => takesBody;
const withBackend: When = ({ hasBackend }) => hasBackend;

/** The only place that decides which refusals a route has. */
const WHEN: Readonly<Record<Code, When>> = {
  malformed_request: always,
  invalid_request: always,
  missing_api_key: withKey,
  invalid_api_key: withKey,
  key_disabled: withKey,
  key_expired: withKey,
  key_retired: withKey,
  address_not_allowed: withKey,
  address_denied: withKey,
  limits_not_set: withKey,
  api_not_allowed: withKey,
  scope_missing: ({ requiresScopes }) => requiresScopes,
  key_banned: withKey,
  not_found: ({ hasPathParameters }) => hasPathParameters,
  method_not_allowed: elsewhere,
  request_timeout: elsewhere,
  operation_sunset: ({ endsAtSunset }) => endsAtSunset,
  payload_too_large: withBody,
  uri_too_long: elsewhere,
  unsupported_media_type: ({ checksBody }) => checksBody,
  expectation_failed: elsewhere,
  rate_limit_exceeded: always,
  daily_quota_exceeded: always,
  too_many_in_flight: always,
  too_many_failed_attempts: withKey,
  headers_too_large: elsewhere,
  internal_error: always,
  not_implemented: elsewhere,
  upstream_unavailable: withBackend,
  upstream_error: withBackend,
  upstream_busy: withBackend,
  upstream_down: withBackend,
  state_unavailable: always,
  gateway_busy: withBody,
  upstream_timeout: withBackend,
  http_version_not_supported: elsewhere,
  loop_detected: elsewhere,
};

export interface Refusals {
  readonly schemas: Readonly<Json>;
  readonly responses: Readonly<Json>;
  /** The form of all error bodies. */
  readonly schema: Json;
  /** References to `responses`, by status. */
  readonly of: (facts: RefusalFacts) => Readonly<Record<string, Json>>;
}

/** Components for refusals of the gateway. */
export function createRefusals(
  nameOf: (name: string) => string,
  api: { readonly isAlone: boolean },
): Refusals {
  const all = errorCodesOf(api);
  const errorName = nameOf('GatewayError');
  const schema = { $ref: `#/components/schemas/${errorName}` };
  const responses: Json = {};
  const references = new Map<number, Json>();
  for (const [key, refusal] of Object.entries(own.refusals)) {
    const { name, description, headers } = refusal;
    const status = Number(key);
    const free = nameOf(name);
    responses[free] = {
      description,
      headers: { ...own.limits, ...headers },
      content: {
        'application/json': { schema, examples: examplesOf(all, status) },
      },
    };
    references.set(status, { $ref: `#/components/responses/${free}` });
  }
  const of = (facts: RefusalFacts) => {
    const codes = all.filter(({ code }) => WHEN[code](facts));
    return Object.fromEntries(
      codes.map(({ status }) => [status, references.get(status)!]),
    );
  };
  return { schemas: { [errorName]: own.error }, responses, schema, of };
}

/** The page of errors has the advice, which depends on settings. */
function examplesOf(
  all: ReturnType<typeof errorCodesOf>,
  status: number,
): Json {
  const codes = all.filter((entry) => entry.status === status);
  return Object.fromEntries(
    codes.map(({ code, title }) => [
      code,
      { value: { code, message: title, status } },
    ]),
  );
}
