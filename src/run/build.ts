import type { FindPage } from '@storegate/pages';
import { PAGE_PATHS } from '../common/reserved-paths.ts';
import { prefixOf, stripsPath, undescribedName } from '../config/apis.ts';
import type { Api } from '../config/config.ts';
import { type Config, largestBody } from '../config/config.ts';
import { usagePaths } from '../config/own-paths.ts';
import {
  createFaultReporter,
  createReport,
} from '../gateway/contract-reports.ts';
import type { Exchange, ExchangeApi } from '../gateway/exchange.ts';
import { createApiFinder, hostIn } from '../gateway/find-api.ts';
import { createPages, type Pages } from '../gateway/own/pages.ts';
import { createUsage } from '../gateway/own/usage.ts';
import {
  type ApiParts,
  createPipeline,
  createSteps,
  type Pipeline,
  type Steps,
} from '../gateway/pipeline.ts';
import {
  type Cors,
  createCors,
  isOfBackend,
  isPreflight,
} from '../gateway/reply/cors.ts';
import { createRuledLines } from '../gateway/reply/headers.ts';
import { createRelay } from '../gateway/reply/relay.ts';
import { createReply } from '../gateway/reply/reply.ts';
import { createTiming } from '../gateway/reply/server-timing.ts';
import { createJoinTunnel } from '../gateway/reply/tunnel.ts';
import type { Target } from '../gateway/results.ts';
import {
  createRoutes,
  type RouteMatch,
  type Routes,
} from '../gateway/routes.ts';
import { createAddresses } from '../gateway/stages/addresses.ts';
import {
  type Admit,
  createAdmit,
  createJudge,
} from '../gateway/stages/admit.ts';
import {
  admitPreflights,
  createAnonymous,
  publicPlanOf,
  withPreflights,
} from '../gateway/stages/anonymous.ts';
import { createAuthenticate } from '../gateway/stages/authenticate.ts';
import { createContract } from '../gateway/stages/contract.ts';
import { createForward } from '../gateway/stages/forward.ts';
import { createInFlight } from '../gateway/stages/in-flight.ts';
import {
  createRequestGuard,
  targetBelow,
} from '../gateway/stages/request-guard.ts';
import { withSettlement } from '../gateway/stages/settle.ts';
import { tracedFields } from '../gateway/upstream/attempts.ts';
import {
  createRequestFields,
  type RequestFields,
  ruledFields,
} from '../gateway/upstream/headers.ts';
import { createInspection } from '../gateway/upstream/inspection.ts';
import {
  createFieldNames,
  createReturnedNames,
  type FieldNames,
  namesIn,
  type ReturnedNames,
} from '../gateway/wire/fields.ts';
import { headOf } from '../gateway/wire/head.ts';
import type { Limits } from '../limits/limits.ts';
import { inApi, NO_SCOPES, scopeOfApi } from '../limits/scopes.ts';
import { TRACE_FIELDS } from '../observe/tracing/request-span.ts';
import { isAnonymous } from '../records/keys/key.ts';
import { limitsOf } from '../records/keys/subjects.ts';
import type { ActiveApi } from './apis.ts';
import {
  documentPaths,
  findPages,
  hasReference,
  homeOf,
} from './client-pages.ts';
import type { LongLived } from './long-lived.ts';
import type { ActiveConfig } from './reload.ts';

/** What the parts of one API are built from. */
interface ApiSettings extends ActiveApi {
  readonly longLived: LongLived;
  /** All APIs of the gateway. */
  readonly settings: ActiveConfig<Config>;
  /** Pages of all APIs. */
  readonly find: FindPage;
  /** Of all backends. */
  readonly hosts: ReadonlySet<string>;
  readonly namesOf: typeof createFieldNames;
  /** Of requests without a key. */
  readonly publicLimits: Limits;
}

/**
 * A request stays on the pipeline it began on, even across a reload. Steps that settings need are
 * wrapped here, so that the pipeline itself has no flags. From the inside:
 *
 * | step | is wrapped by | if |
 * |---|---|---|
 * | `createAnonymous` | `withPreflights` | the backend responds to preflights |
 * | `createAdmit` | `createInFlight` | plans have `concurrency` |
 * | | `admitPreflights` | the backend responds to preflights |
 * | `createForward`, `createReply` | `withSettlement` | responses report or refund a cost |
 * | `createRequestFields` | `ruledFields` | `headers.request` sets fields |
 * | | `tracedFields` | spans are sent |
 */
export function buildPipeline(
  settings: ActiveConfig<Config>,
  longLived: LongLived,
): Pipeline {
  const { config, apis } = settings;
  const { observe, tracing, guard } = longLived;
  const reply = createReply({
    cors: createCors(config.cors),
    guard,
    observe,
    ruled: createRuledLines(config.headers.response),
    hasReference: apis.some(({ api }) => hasReference(api)),
  });
  const find = findPages(settings);
  const namesOf = sharedNames();
  const publicLimits = limitsOf(config.plans.publicPlan?.windows ?? [], {
    escalation: null,
    scoped: settings.contract.windows,
  });
  const hosts = hostsOf(config);
  const shared = { settings, longLived, find, hosts, namesOf, publicLimits };
  const built = apis.map((one) => buildApi({ ...one, ...shared }));
  const [first] = built;
  return createPipeline({
    guard: createRequestGuard({
      config: {
        ...config.http,
        maxBodyBytes: Math.max(...apis.map(({ api }) => largestBody(api))),
      },
      paths: config.contract,
      observe,
      names: first!.names,
      api: first!.facts,
      beginSpan: tracing === null ? null : tracing.begin(config.tracing),
    }),
    addresses: createAddresses('addresses', config.addresses),
    reply,
    enterApi: built.length === 1 ? first!.steps : entering(apis, built),
  });
}

/** Equal ones are one object: a head is read once for all APIs that have it. */
function sharedNames(): typeof createFieldNames {
  const shared = new Map<string, FieldNames>();
  return (options) => {
    const key = JSON.stringify(options);
    const names = shared.get(key) ?? createFieldNames(options);
    shared.set(key, names);
    return names;
  };
}

const NO_PAGES: Pages = { has: () => false, serve: async () => {} };

/** Finds the API of each request. */
function entering(
  apis: readonly ActiveApi[],
  built: readonly ReturnType<typeof buildApi>[],
): Steps {
  const find = createApiFinder(
    apis.map(({ api: { host, path } }, i) => ({
      host,
      path,
      value: built[i]!,
    })),
  );
  return (exchange, target) => {
    const { call, head } = exchange;
    const { names, facts, steps } = find(hostIn(call, head), target.path)!;
    exchange.api = facts;
    exchange.scopes = facts.scopes;
    exchange.head = headOf(call.fields, names);
    const { stripped } = facts;
    steps(exchange, stripped === '' ? target : targetBelow(target, stripped));
  };
}

function buildApi(parts: ApiSettings) {
  const { api, contract, longLived, settings, find, hosts } = parts;
  const { largeChecks, observe, clock, via } = longLived;
  const cors = createCors(api.cors);
  const report = createReport(contract, observe);
  const stripped = stripsPath(api, contract.prefixes) ? api.path : '';
  const name = prefixOf(api);
  const facts: ExchangeApi = {
    name,
    none: inApi(name, 'none'),
    stripped,
    undescribed: {
      name: undescribedName(api),
      path: `${api.path === '/' ? '' : api.path}/*`,
    },
    document: hasReference(api) ? documentPaths(api, settings).json : null,
    report: createFaultReporter(contract),
    scopes: api.isAlone ? NO_SCOPES : Object.freeze([scopeOfApi(api.name)]),
  };
  const { names, authenticate } = createReading(parts);
  const returned = createReturnedNames({
    cors: isOfBackend(api.cors),
    via,
    rules: api.headers.response,
  });
  const routes = createRoutes({
    api,
    contract,
    stripped,
    scopes: facts.scopes,
    upstreams: longLived.upstreams,
    hosts,
    timeouts: settings.config.upstream,
    observe,
    returned,
  });
  const { forward, tunnel, reply } = createReplying(parts, {
    cors,
    returned,
  });
  const steps = createSteps({
    addresses: api.ownAddresses
      ? createAddresses(`the API ${api.name}: addresses`, api.addresses)
      : null,
    authenticate,
    usage: createUsage({
      ...longLived,
      reply,
      operations: settings.contract.operations,
    }),
    usagePaths: usagePathsOf(parts),
    admit: createAdmission(api, longLived),
    contract: createContract({
      largeChecks,
      clock,
      report,
      bodies: longLived.bodies,
      similar: (path) => contract.similar(path),
      elsewhere:
        api.contract.requests === 'enforce' ? null : routes.undescribed,
      refuseAfterSunset: api.contract.afterSunset === 'refuse',
    }),
    forward,
    tunnel,
    inspect: createInspection({
      mode: api.contract.responses,
      maxBodyBytes: api.http.maxBodyBytes,
      largeChecks,
      report,
    }),
    relay: createRelay(reply, longLived.readAhead),
    // Below the path of an API browsers get what it has.
    pages:
      api.path === '/'
        ? createPages({
            ...longLived,
            find,
            paths: settings.apis.some((one) => hasReference(one.api))
              ? PAGE_PATHS
              : [],
            home: homeOf(parts, settings),
            reply,
          })
        : NO_PAGES,
    cors,
    reply,
    route: createRouting(api, routes, longLived),
    takesTunnel: tunnelTest(routes),
  });
  return { names, facts, steps };
}

/** What gets responses, and what writes them. */
function createReplying(
  { api, settings, longLived }: ApiSettings,
  { cors, returned }: { readonly cors: Cors; readonly returned: ReturnedNames },
) {
  const { guard, observe, state } = longLived;
  const timing = settings.config.tracing.serverTiming
    ? createTiming(api.cors.origins)
    : null;
  const reply = createReply({
    cors,
    guard,
    observe,
    timing,
    ruled: createRuledLines(api.headers.response),
    hasReference: settings.apis.some((one) => hasReference(one.api)),
  });
  const forwards = createForward({
    requestFields: requestFieldsOf(api, longLived),
    joinTunnel: createJoinTunnel(reply, returned),
    plainResponses: api.contract.responses !== 'off',
  });
  return withSettlement(
    { ...forwards, reply },
    { cost: api.cost, state, observe },
  );
}

function requestFieldsOf(
  { headers, keys }: Api,
  { tracing, via }: LongLived,
): RequestFields {
  const untraced = ruledFields(
    createRequestFields(keys.identity, via),
    headers.request,
  );
  return tracing === null ? untraced : tracedFields(untraced);
}

const hostsOf = ({ upstream, upstreams }: Config): ReadonlySet<string> =>
  new Set(
    [upstream, ...Object.values(upstreams)].flatMap(({ backends }) =>
      backends.map(({ url }) => new URL(url).hostname),
    ),
  );

function tunnelTest({ takesTunnels }: Routes): ApiParts['takesTunnel'] {
  if (!takesTunnels) return () => false;
  return ({ call, head: { upgrade, upgrades } }) =>
    upgrades && upgrade === 'websocket' && call.minor > 0;
}

function createAdmission(
  { plans, cors }: Api,
  { state, bans, flights, observe, openAddressWindow }: LongLived,
): Admit {
  const judge = createJudge({ bans, observe });
  const admit = createInFlight({
    plans,
    flights,
    state,
    judge,
    admit: createAdmit({ state, judge }),
  });
  return isOfBackend(cors) ? admitPreflights(admit, openAddressWindow) : admit;
}

function createReading(parts: ApiSettings) {
  const { api, contract, longLived, namesOf } = parts;
  const { keyring, guard, clock, subjects, tracing, via } = longLived;
  const keyHeaders = api.keys.headers ?? contract.keyHeaders;
  const identity = Object.values(api.keys.identity);
  const own = [
    ...(tracing === null ? [] : TRACE_FIELDS),
    ...identity.filter((name) => name !== null),
    ...namesIn(api.headers.request),
  ];
  const ownPaths = usagePathsOf(parts);
  const plan = publicPlanOf({ config: api, contract });
  const anonymous = createAnonymous({
    contract,
    plan,
    limits: parts.publicLimits,
    subjects,
    usagePaths: ownPaths,
  });
  return {
    names: namesOf({
      strip: api.http.stripHeaders,
      own,
      checked: [...contract.headerNames].sort(),
      keyHeaders,
      hide: api.keys.hide,
    }),
    authenticate: createAuthenticate({
      keyring,
      guard,
      clock,
      keyHeaders,
      via,
      anonymous: isOfBackend(api.cors)
        ? withPreflights(anonymous, ownPaths)
        : anonymous,
    }),
  };
}

const usagePathsOf = ({ api, contract }: ActiveApi): readonly string[] =>
  api.usage.enabled ? usagePaths(contract) : [];

function createRouting(
  { cors }: Api,
  routes: Routes,
  { uses, observe }: LongLived,
): ApiParts['route'] {
  function note({ id, client, operation }: Exchange): void {
    if (isAnonymous(client!)) return;
    const { keyId, plan, retiresAt } = client!;
    uses.note(keyId);
    if (operation?.deprecated) uses.noteDeprecated(keyId, operation.id);
    if (retiresAt !== null) observe({ type: 'key.retiring', id, keyId, plan });
  }

  const passes = isOfBackend(cors) ? isPreflight : () => false;

  return (exchange: Exchange, target: Target): RouteMatch => {
    const { call, head } = exchange;
    const match = passes(exchange)
      ? routes.findPreflight(head.preflightMethod!, target)
      : routes.find(call.method, target);
    if (match.kind === 'route') {
      exchange.operation = match.route.operation;
      exchange.route = match.route.name;
      exchange.scopes = match.route.scopes;
    }
    if (exchange.client) note(exchange);
    return match;
  };
}
