import { entityTag, hasTag } from '@storegate/pages';
import type { OpenAddressWindow } from '../../common/clients/address-window.ts';
import { fieldIn } from '../../common/field-list.ts';
import { remembered } from '../../common/remembered.ts';
import { USAGE_PATH } from '../../common/reserved-paths.ts';
import { DAY, MINUTE } from '../../common/time.ts';
import type { Operation } from '../../config/contract/contract.ts';
import type { LedgerAccess } from '../../ledger/ledger.ts';
import {
  type Admission,
  isShown,
  remainingIn,
} from '../../limits/admission.ts';
import { durationAtLevel } from '../../limits/ban-escalation.ts';
import type { Window } from '../../limits/limits.ts';
import { fullNameOf, inApi, readScope } from '../../limits/scopes.ts';
import type { DeprecatedCall } from '../../observe/peers/deprecated.ts';
import type { Client, KeyRecord } from '../../records/keys/key.ts';
import type { KeyStore } from '../../records/keys/store.ts';
import type { State } from '../../state/state.ts';
import type { Exchange } from '../exchange.ts';
import type { Reply } from '../reply/reply.ts';
import type { KnownClient } from '../results.ts';
import { methodNotAllowed, windowUsedUp } from '../route-refusals.ts';
import type { Flights } from '../stages/in-flight.ts';
import {
  createPeriodUsage,
  periodIn,
  type UsagePeriod,
} from './period-usage.ts';

const ALLOWANCE: Window = {
  name: 'usage',
  kind: 'fixed',
  limit: 120,
  span: MINUTE,
};

/** Also while the client is limited or banned. */
export type Usage = (exchange: Exchange, client: KnownClient) => Promise<void>;

export interface UsageParts {
  readonly state: State;
  readonly keys: KeyStore;
  readonly flights: Pick<Flights, 'of'>;
  readonly deprecatedBy: (keyId: string) => Promise<readonly DeprecatedCall[]>;
  readonly reply: Reply;
  readonly operations: readonly Operation[];
  readonly ledger: LedgerAccess;
  readonly openAddressWindow: OpenAddressWindow;
  readonly clock: () => number;
}

/** On first use, for all APIs: there may be thousands. */
const factsOf = remembered((operations: readonly Operation[]) => ({
  costs: Object.fromEntries(operations.map(({ id, cost }) => [id, cost])),
  sunsets: new Map(operations.map(({ id, sunset }) => [id, sunset])),
}));

export function createUsage({
  state,
  keys,
  flights,
  deprecatedBy,
  reply,
  operations,
  ledger,
  clock,
  openAddressWindow,
}: UsageParts): Usage {
  const allowance = openAddressWindow(ALLOWANCE, Number.POSITIVE_INFINITY);
  const periodUsage = createPeriodUsage(ledger, clock, openAddressWindow);

  async function bodyFor(
    exchange: Exchange,
    client: KnownClient,
    admission: Admission,
    requested: UsagePeriod | null,
  ): Promise<string> {
    const period =
      requested && (await periodUsage(exchange, client.keyId, requested));
    const [record, level, deprecated] = await Promise.all([
      keys.get(client.keyId),
      state.banLevel(client.subject, client.limits),
      deprecatedBy(client.keyId),
    ]);
    const { costs, sunsets } = factsOf(operations);
    const { concurrency, subject } = client;
    return JSON.stringify({
      plan: client.plan,
      account: client.account,
      countedBy: subject.startsWith('account:') ? 'account' : 'key',
      windows: windowsIn(admission),
      inFlight:
        concurrency === null
          ? null
          : { most: concurrency, now: flights.of(subject) },
      costs,
      ...(period && { period }),
      ban: banOf(client, admission, level),
      key: record && keyFacts(record, client, clock()),
      deprecated: deprecated.map(({ operation, at }) => ({
        operation,
        lastCall: iso(at),
        sunset: iso((sunsets.get(operation) ?? 0) * 1000),
      })),
    });
  }

  /** Each response costs state look-ups. It adds no strike. */
  async function spend(
    exchange: Exchange,
    { keyId }: KnownClient,
  ): Promise<void> {
    const usage = await allowance.take(keyId);
    if (!usage.exhausted) return;
    throw windowUsedUp(
      exchange,
      usage,
      `${USAGE_PATH} allows ${ALLOWANCE.limit} requests per minute for each key: wait for Retry-After. This causes no ban.`,
    );
  }

  return async function serve(exchange, client) {
    exchange.route = 'usage';
    await spend(exchange, client);
    const { method, fields } = exchange.call;
    const admission = await state.look(client.subject, client.limits);
    exchange.usage = admission;
    if (method !== 'GET' && method !== 'HEAD')
      throw methodNotAllowed(exchange, USAGE_PATH, ['GET', 'HEAD']);
    const body = await bodyFor(
      exchange,
      client,
      admission,
      periodIn(exchange.call.target),
    );
    const etag = entityTag(body);
    const headers = [
      'ETag',
      etag,
      'Cache-Control',
      'private, no-cache',
      'Vary',
      'X-API-Key, Authorization',
    ];
    if (hasTag(fieldIn(fields.list, 'if-none-match'), etag))
      return await reply.send(exchange, 304, headers, '');
    await reply.send(
      exchange,
      200,
      [...headers, 'Content-Type', 'application/json; charset=utf-8'],
      body,
    );
  };
}

/** An unused window has no reset: the next request opens it. */
function windowsIn({ readings }: Admission) {
  const shown = readings.filter(({ window }) => isShown(window));
  return shown.map((reading) => ({
    name: fullNameOf(reading.window),
    ...scopeLabel(reading.window),
    kind: reading.window.kind,
    limit: reading.window.limit,
    used: reading.used,
    remaining: remainingIn(reading),
    reset: reading.used === 0 ? null : iso(reading.resetAt),
  }));
}

function scopeLabel({ scope }: Window): {
  readonly operation?: string;
  readonly tag?: string;
} {
  if (scope === undefined) return {};
  const { api, kind, name } = readScope(scope);
  // The name of the window has it.
  return kind === 'api' ? {} : { [kind]: inApi(api, name) };
}

function banOf(
  { limits: { escalation } }: KnownClient,
  { bannedUntil, strikes }: Admission,
  level: number,
) {
  return {
    until: iso(bannedUntil),
    strikes,
    strikesToBan: escalation?.strikes ?? null,
    nextLengthSeconds: escalation && durationAtLevel(escalation, level) / 1000,
  };
}

function keyFacts(
  { id, label, scopes, apis, createdAt, expiresAt, rotatedAt }: KeyRecord,
  { retiresAt }: Client,
  now: number,
) {
  return {
    id,
    label,
    scopes,
    ...(apis && { apis }),
    created: iso(createdAt),
    ageDays: Math.floor((now - createdAt) / DAY),
    expires: iso(expiresAt ?? 0),
    rotated: iso(rotatedAt ?? 0),
    retires: iso(retiresAt ?? 0),
  };
}

function iso(at: number): string | null {
  return at === 0 ? null : new Date(at).toISOString();
}
