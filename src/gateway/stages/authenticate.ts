import { listsOf } from '../../common/address-lists.ts';
import { isAmong } from '../../common/clients/address.ts';
import { createAddressRules } from '../../common/clients/address-rules.ts';
import type { Guard } from '../../common/clients/guard.ts';
import { CATALOGUE, type Code } from '../../common/errors/catalogue.ts';
import { cachedRefusals, Refusal } from '../../common/errors/refusals.ts';
import { retryAfter } from '../../common/errors/retry-after.ts';
import {
  type KeyHeaders,
  keyHeadersText,
  keyHeaders as namesOf,
} from '../../common/key-headers.ts';
import type { MaybePromise } from '../../common/maybe-promise.ts';
import { remembered } from '../../common/remembered.ts';
import type { Plan } from '../../limits/plans.ts';
import {
  type Client,
  type ClientAddresses,
  isAnonymous,
} from '../../records/keys/key.ts';
import type { Keyring } from '../../records/keys/keyring.ts';
import {
  hashSecret,
  isWellFormed,
  MAX_IMPORTED_LENGTH,
  MAX_KEY_LENGTH,
} from '../../records/keys/secret.ts';
import type { Exchange } from '../exchange.ts';
import type { KnownClient, Target } from '../results.ts';
import { bearerToken, type Head } from '../wire/head.ts';
import type { Via } from '../wire/via.ts';

/** Returns the refusal, see `pipeline.ts`. The target proves that the request guard accepted it. */
export type Authenticate = (
  exchange: Exchange,
  entered: Target,
) => MaybePromise<KnownClient | Refusal>;

/** `null`: the request needs a key. */
export type Anonymous = (exchange: Exchange, entered: Target) => Client | null;

interface AuthenticateParts {
  readonly keyring: Keyring;
  readonly guard: Guard;
  readonly clock: () => number;
  readonly keyHeaders: KeyHeaders;
  readonly anonymous: Anonymous | null;
  readonly via: Via;
}

const LOOP = new Refusal('loop_detected');

/** 429 if the address fails too often. */
export function createAuthenticate({
  keyring,
  guard,
  clock,
  keyHeaders,
  anonymous,
  via,
}: AuthenticateParts): Authenticate {
  const unauthorized = createUnauthorized(keyHeaders);
  const secretIn = createSecretReader(keyHeaders, unauthorized);
  const withoutLimits = cachedRefusals('limits_not_set');

  return function authenticate(exchange, target) {
    const { head } = exchange;
    // A loop costs one request: the key of its client is charged already.
    if (head.via !== undefined && via.isIn(head.via))
      return fail(exchange, LOOP);
    const secret = secretIn(head);
    if (secret === null) {
      const client = anonymous?.(exchange, target) ?? null;
      return client === null
        ? fail(exchange, unauthorized('missing_api_key'))
        : accept(exchange, client);
    }
    if (secret instanceof Refusal) return fail(exchange, secret);
    if (
      secret.length >
      (keyring.acceptsImported ? MAX_IMPORTED_LENGTH : MAX_KEY_LENGTH)
    )
      return fail(exchange, unauthorized('invalid_api_key'));
    const hash = hashOf(secret, exchange.call.connection);
    const cached = keyring.cached(hash);
    if (cached) return accept(exchange, cached);
    // A malformed key needs no look-up.
    if (!isWellFormed(secret) && !keyring.acceptsImported)
      return fail(exchange, unauthorized('invalid_api_key'));
    const found = keyring.find(hash);
    return found instanceof Promise
      ? found.then((client) => accept(exchange, client))
      : accept(exchange, found);
  };

  function accept(
    exchange: Exchange,
    client: Client | null,
  ): MaybePromise<KnownClient | Refusal> {
    if (!client) return fail(exchange, unauthorized('invalid_api_key'));
    exchange.client = client;
    if (client.withdrawn !== null)
      return fail(
        exchange,
        client.withdrawn === 'revoked'
          ? unauthorized('key_disabled', REVOKED)
          : unauthorized('key_disabled'),
      );
    if (client.retiresAt !== null && client.retiresAt <= clock())
      return fail(exchange, unauthorized('key_retired'));
    if (client.expiresAt !== null && client.expiresAt <= clock())
      return fail(exchange, unauthorized('key_expired'));
    if (client.addresses !== null) {
      const refusal = refusalFrom(client.addresses, exchange.address);
      if (refusal !== null) return refusal;
    }
    if (!client.limits)
      return withoutLimits(
        `the plans file has no limits for the plan ${client.plan}, and the key has none`,
      );
    if (!isAnonymous(client)) exchange.call.connection.known = true;
    exchange.authenticatedAt = performance.now();
    return client as KnownClient;
  }

  async function fail(exchange: Exchange, refusal: Refusal): Promise<Refusal> {
    const usage = await guard.fail(exchange.address);
    exchange.usage = usage;
    // A loop stays visible as such.
    if (!usage.exhausted || refusal === LOOP) return refusal;
    return new Refusal('too_many_failed_attempts', {
      headers: retryAfter(usage.readings[0]!.resetAt, usage.now),
    });
  }
}

const REVOKED = 'This API key is revoked. Ask its issuer for a new key.';

const NOT_OF_KEY = new Refusal('address_not_allowed', {
  reason: 'the addresses of the key do not have it',
});

/** A reload brings new plans. */
const rulesOf = remembered(({ name, addresses }: Plan) => {
  const { allow, deny } = addresses!;
  return createAddressRules(
    `plan ${name}: addresses`,
    listsOf(allow, deny),
    'address_not_allowed',
  );
});

/** `null`: allowed. */
function refusalFrom(
  { key, plan }: ClientAddresses,
  address: string,
): Refusal | null {
  if (key !== null && !isAmong(key, address)) return NOT_OF_KEY;
  return plan === null ? null : rulesOf(plan).refuse(address);
}

/** Most connections repeat one secret, and hashing costs a tenth of a refusal. */
const lastHashes = new WeakMap<
  object,
  { readonly secret: string; readonly hash: string }
>();

function hashOf(secret: string, connection: object): string {
  const last = lastHashes.get(connection);
  if (last?.secret === secret) return last.hash;
  const hash = hashSecret(secret);
  lastHashes.set(connection, { secret, hash });
  return hash;
}

/** The same key may come twice: in a header and as a bearer token. */
function createSecretReader(
  { headers, bearer }: KeyHeaders,
  unauthorized: Unauthorized,
) {
  const named = namesOf({ headers, bearer }).join(' or ');
  const ambiguous = (message: string) =>
    unauthorized(
      'invalid_api_key',
      `${message} Send the key in one header: ${named}.`,
    );

  return function secretIn({
    apiKeys,
    authorizations,
  }: Head): string | Refusal | null {
    if (apiKeys.length > 1 || authorizations.length > 1)
      return ambiguous(
        `The request has more than one ${apiKeys.length > 1 ? 'key' : 'Authorization'} header.`,
      );
    const token =
      bearer && authorizations.length === 1
        ? bearerToken(authorizations[0]!)
        : null;
    const apiKey = apiKeys[0] ?? null;
    if (apiKey !== null && token !== null && apiKey !== token)
      return ambiguous(
        `${headers.join(', ')} and Authorization hold different keys.`,
      );
    return apiKey ?? token;
  };
}

type Unauthorized = (code: Code, message?: string) => Refusal;

function createUnauthorized(keyHeaders: KeyHeaders): Unauthorized {
  /** By code or message: messages are few, so a flood allocates nothing. */
  const shared = new Map<string, Refusal>();
  const { headers, bearer } = keyHeaders;
  const missing = `${CATALOGUE.missing_api_key.title} Send it ${keyHeadersText(keyHeaders).replaceAll('`', '')}.`;

  /** Every 401 carries a challenge (RFC 9110 section 11.6.1). */
  const refusal = (code: Code, message: string | undefined) => {
    const challenge = bearer
      ? 'Bearer realm="storegate"'
      : `ApiKey realm="storegate", header="${headers[0]}"`;
    const error =
      bearer && code !== 'missing_api_key' ? ', error="invalid_token"' : '';
    return new Refusal(code, {
      ...(message === undefined ? {} : { message }),
      headers: ['WWW-Authenticate', challenge + error],
    });
  };

  return (code, message) => {
    const name = message ?? code;
    const cached =
      shared.get(name) ??
      refusal(code, code === 'missing_api_key' ? missing : message);
    shared.set(name, cached);
    return cached;
  };
}
