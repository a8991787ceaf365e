import type { FindPage } from '@storegate/pages';
import { createReference } from '@storegate/reference';
import { ERROR_CODES } from '../common/errors/catalogue.ts';
import { type KeyHeaders, keyHeaders } from '../common/key-headers.ts';
import {
  CONTRACT_JSON_PATH,
  CONTRACT_YAML_PATH,
  PAGE_PATHS,
  REFERENCE_PATH,
  USAGE_PATH,
} from '../common/reserved-paths.ts';
import { type Config, largestBody } from '../config/config.ts';
import type { Contract } from '../config/contract/contract.ts';
import { NO_CONTRACT } from '../config/contract/place.ts';
import { usagePaths } from '../config/own-paths.ts';
import {
  createFaultReporter,
  createReport,
} from '../gateway/contract-reports.ts';
import type { Exchange } from '../gateway/exchange.ts';
import { createPages } from '../gateway/own/pages.ts';
import { createUsage } from '../gateway/own/usage.ts';
import { withUsage } from '../gateway/own/usage-operation.ts';
import {
  createPipeline,
  type Parts,
  type Pipeline,
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
import {
  behindMounts,
  createAddresses,
  type Reading,
} from '../gateway/stages/addresses.ts';
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
import {
  type Anonymous,
  createAuthenticate,
} from '../gateway/stages/authenticate.ts';
import { createContract } from '../gateway/stages/contract.ts';
import { createForward } from '../gateway/stages/forward.ts';
import { createInFlight } from '../gateway/stages/in-flight.ts';
import { createRequestGuard } from '../gateway/stages/request-guard.ts';
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
  namesIn,
  type ReturnedNames,
} from '../gateway/wire/fields.ts';
import { isShown } from '../limits/admission.ts';
import type { Plan } from '../limits/plans.ts';
import { readScope } from '../limits/scopes.ts';
import { TRACE_FIELDS } from '../observe/tracing/request-span.ts';
import { isAnonymous } from '../records/keys/key.ts';
import type { LongLived } from './long-lived.ts';
import type { ActiveConfig } from './reload.ts';

/**
 * A request stays on the pipeline it began on, even across a reload. Steps that settings need are
 * wrapped here, so that the pipeline itself has no flags. From the inside:
 *
 * | step | is wrapped by | if |
 * |---|---|---|
 * | `createAnonymous` | `withPreflights` | the backend responds to preflights |
 * | `createAuthenticate` | `behindMounts` | mounts have address lists or key headers |
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
  const { config, contract } = settings;
  const {
    largeChecks,
    observe,
    clock,
    tracing,
    guard,
    via,
    openAddressWindow,
  } = longLived;
  const cors = createCors(config.cors);
  const { maxBodyBytes } = config.http;
  const { responses } = config.contract;
  const report = createReport(contract, observe);
  const { names, authenticate } = createReading(settings, longLived);
  const returned = createReturnedNames({
    cors: isOfBackend(config.cors),
    via,
    rules: config.headers.response,
  });
  const routes = routesOf(settings, longLived, returned);
  const { forward, tunnel, reply } = createReplying(config, longLived, {
    cors,
    returned,
  });
  return createPipeline({
    guard: createRequestGuard({
      config: { ...config.http, maxBodyBytes: largestBody(config) },
      paths: config.contract,
      observe,
      names,
      report: createFaultReporter(contract),
      beginSpan: tracing === null ? null : tracing.begin(config.tracing),
    }),
    addresses: createAddresses(config.addresses),
    authenticate,
    usage: createUsage({
      ...longLived,
      reply,
      operations: contract.operations,
    }),
    usagePaths: usagePathsOf(settings),
    admit: createAdmission(config, longLived),
    contract: createContract({
      largeChecks,
      clock,
      report,
      bodies: longLived.bodies,
      similar: (path) => contract.similar(path),
      elsewhere:
        config.contract.requests === 'enforce' ? null : routes.routeToBackend(),
      refuseAfterSunset: config.contract.afterSunset === 'refuse',
    }),
    forward,
    tunnel,
    inspect: createInspection({
      mode: responses,
      maxBodyBytes,
      largeChecks,
      report,
    }),
    relay: createRelay(reply, longLived.readAhead),
    pages: createPages({
      find: referenceOf(settings),
      paths: hasReference(config) ? PAGE_PATHS : [],
      home: homeOf(settings),
      guard,
      openAddressWindow,
      reply,
    }),
    cors,
    reply,
    route: createRouting(config, routes, longLived),
    takesTunnel: tunnelTest(routes),
  });
}

/** What gets responses, and what writes them. */
function createReplying(
  config: Config,
  longLived: LongLived,
  { cors, returned }: { readonly cors: Cors; readonly returned: ReturnedNames },
) {
  const { guard, observe, state } = longLived;
  const timing = config.tracing.serverTiming
    ? createTiming(config.cors.origins)
    : null;
  const reply = createReply({
    cors,
    guard,
    observe,
    timing,
    ruled: createRuledLines(config.headers.response),
    hasReference: hasReference(config),
  });
  const forwards = createForward({
    requestFields: requestFieldsOf(config, longLived),
    joinTunnel: createJoinTunnel(reply, returned),
    plainResponses: config.contract.responses !== 'off',
  });
  return withSettlement(
    { ...forwards, reply },
    { cost: config.cost, state, observe },
  );
}

function requestFieldsOf(
  { headers, keys }: Config,
  { tracing, via }: LongLived,
): RequestFields {
  const untraced = ruledFields(
    createRequestFields(keys.identity, via),
    headers.request,
  );
  return tracing === null ? untraced : tracedFields(untraced);
}

function routesOf(
  { config, contract }: ActiveConfig<Config>,
  longLived: LongLived,
  returned: ReturnedNames,
): Routes {
  const { upstreams, observe } = longLived;
  const { mounts, http, upstream: timeouts } = config;
  return createRoutes({
    contract,
    mounts,
    maxBodyBytes: http.maxBodyBytes,
    upstreams,
    hosts: hostsOf(config),
    timeouts,
    observe,
    returned,
  });
}

const hostsOf = ({ upstream, upstreams }: Config): ReadonlySet<string> =>
  new Set(
    [upstream, ...Object.values(upstreams)].flatMap(({ backends }) =>
      backends.map(({ url }) => new URL(url).hostname),
    ),
  );

function tunnelTest({ takesTunnels }: Routes): Parts['takesTunnel'] {
  if (!takesTunnels) return () => false;
  return ({ call, head: { upgrade, upgrades } }) =>
    upgrades && upgrade === 'websocket' && call.minor > 0;
}

function createAdmission(
  { plans, cors }: Config,
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

function createReading(
  settings: ActiveConfig<Config>,
  longLived: LongLived,
): Reading {
  const { config, contract } = settings;
  const { keyring, guard, clock, subjects, tracing, via } = longLived;
  const { headers: chosen, hide, identity } = config.keys;
  const own = [
    ...(tracing === null ? [] : TRACE_FIELDS),
    ...Object.values(identity).filter((name) => name !== null),
    ...namesIn(config.headers.request),
  ];
  const ownPaths = usagePathsOf(settings);
  const readingOf = (
    keyHeaders: KeyHeaders,
    anonymous: Anonymous | null,
  ): Reading => ({
    names: createFieldNames({
      strip: config.http.stripHeaders,
      own,
      checked: contract.headerNames,
      keyHeaders,
      hide,
    }),
    authenticate: createAuthenticate({
      keyring,
      guard,
      clock,
      keyHeaders,
      via,
      anonymous: isOfBackend(config.cors)
        ? withPreflights(anonymous, ownPaths)
        : anonymous,
    }),
  });
  const plan = publicPlanOf({ config, contract });
  const anonymous = createAnonymous({
    contract,
    plan,
    subjects,
    usagePaths: ownPaths,
  });
  const { names, authenticate } = readingOf(
    chosen ?? contract.keyHeaders,
    anonymous,
  );
  /** The contract takes precedence over mounts. */
  const isOfContract = (method: string, path: string) =>
    isDescribed(contract, method, path);
  const ofMount = (keyHeaders: KeyHeaders) => readingOf(keyHeaders, null);
  return {
    names,
    authenticate: behindMounts(
      config.mounts,
      isOfContract,
      authenticate,
      ofMount,
    ),
  };
}

const usagePathsOf = ({
  config,
  contract,
}: ActiveConfig<Config>): readonly string[] =>
  config.usage.enabled ? usagePaths(contract) : [];

function createRouting(
  { cors }: Config,
  routes: Routes,
  { uses, observe }: LongLived,
): Parts['route'] {
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
    }
    if (exchange.client) note(exchange);
    return match;
  };
}

function isDescribed(
  contract: Contract,
  method: string,
  path: string,
): boolean {
  const match = contract.match(method, path);
  return match.operation !== null || match.allow !== null;
}

/** Without a contract its paths are the backend's. */
export const hasReference = ({ contract, reference }: Config): boolean =>
  reference.enabled && contract.file !== NO_CONTRACT;

/** Unless an operation has `/`, or every path is the backend's. */
function homeOf({ config, contract }: ActiveConfig<Config>): string | null {
  return !isDescribed(contract, 'GET', '/') && hasReference(config)
    ? `${REFERENCE_PATH}/`
    : null;
}

/** Without windows that only watch. */
function forClients(plan: Plan): Plan {
  return { ...plan, windows: plan.windows?.filter(isShown) ?? null };
}

function referenceOf({
  config,
  contract,
  prepared,
}: ActiveConfig<Config>): FindPage {
  const open = publicPlanOf({ config, contract });
  return createReference({
    branding: config.reference,
    contract: config.usage.enabled ? withUsage(contract) : contract,
    published: prepared.published,
    paths: {
      page: `${REFERENCE_PATH}/`,
      json: CONTRACT_JSON_PATH,
      yaml: CONTRACT_YAML_PATH,
    },
    readers: {
      keyHeaders: keyHeaders(config.keys.headers ?? contract.keyHeaders),
      usage: config.usage.enabled ? USAGE_PATH : null,
      limits: {
        plans: [
          ...config.plans.plans.values(),
          ...(open === null ? [] : [open]),
        ].map(forClients),
        bans: config.plans.escalation,
        scoped: contract.windows
          .filter(isShown)
          .map((window) => ({ ...readScope(window.scope!), window })),
      },
    },
    errors: ERROR_CODES,
  });
}
