import type { FindPage } from '@storegate/pages';
import { createReference } from '@storegate/reference';
import { type Carriers, keyField } from '../common/carriers.ts';
import {
  CONTRACT_JSON_PATH,
  CONTRACT_YAML_PATH,
  PAGE_PATHS,
  REFERENCE_PATH,
  USAGE_PATH,
} from '../common/reserved-paths.ts';
import type { Config } from '../config/config.ts';
import type { Contract, Operation } from '../config/contract/contract.ts';
import { NO_CONTRACT } from '../config/contract/place.ts';
import { DEFAULT_UPSTREAM } from '../config/upstreams.ts';
import { ERROR_CODES } from '../errors/catalogue.ts';
import { createFaultReporter, createReport } from '../gateway/contract-reports.ts';
import type { Exchange } from '../gateway/exchange.ts';
import { createPages, type PagesOptions } from '../gateway/own/pages.ts';
import { createUsage } from '../gateway/own/usage.ts';
import { withUsage } from '../gateway/own/usage-operation.ts';
import { createPipeline, type Pipeline } from '../gateway/pipeline.ts';
import { createAnswer } from '../gateway/reply/answer.ts';
import { createCors, isOfBackend, isPreflight } from '../gateway/reply/cors.ts';
import { createRelay } from '../gateway/reply/relay.ts';
import { createTiming } from '../gateway/reply/server-timing.ts';
import type { Target } from '../gateway/results.ts';
import { findPreflightRoute, findRoute, type Route } from '../gateway/routes.ts';
import { behindMounts, createAddresses, type Reading } from '../gateway/stages/addresses.ts';
import { type Admit, createAdmit, createJudge } from '../gateway/stages/admit.ts';
import { createAnonymous, publicPlanOf } from '../gateway/stages/anonymous.ts';
import { type Anonymous, createAuthenticate } from '../gateway/stages/authenticate.ts';
import { createContract } from '../gateway/stages/contract.ts';
import { createForward, createStorePaths } from '../gateway/stages/forward.ts';
import { createInFlight } from '../gateway/stages/in-flight.ts';
import { admitPreflights, withPreflights } from '../gateway/stages/preflights.ts';
import { createRequestGuard } from '../gateway/stages/request-guard.ts';
import { tracedFields } from '../gateway/upstream/attempts.ts';
import { createRequestFields } from '../gateway/upstream/headers.ts';
import { createInspection } from '../gateway/upstream/inspection.ts';
import { createMounts } from '../gateway/upstream/mounts.ts';
import type { Stores, Upstreams } from '../gateway/upstream/stores.ts';
import { FieldNames, ReturnedNames } from '../gateway/wire/fields.ts';
import { isAnonymous } from '../keys/key.ts';
import { readScope } from '../limits/scopes.ts';
import { TRACE_FIELDS } from '../observe/tracing/request-span.ts';
import type { LongLived } from './long-lived.ts';
import type { ActiveConfig } from './reload.ts';

/** A request stays on the pipeline it began on, even across a reload. */
export function buildPipeline(settings: ActiveConfig<Config>, longLived: LongLived): Pipeline {
  const { config, contract } = settings;
  const { uses, upstreams, largeChecks, observe, clock, tracing, guard } = longLived;
  const cors = createCors(config.cors);
  const timing = config.tracing.serverTiming ? createTiming(config.cors.origins) : null;
  const answer = createAnswer({ ...{ cors, guard, observe, timing }, hasReference: hasReference(config) });
  const { maxBodyBytes } = config.http;
  const { responses } = config.contract;
  const report = createReport(contract, observe);
  const toBackend = backendParts(config, longLived);
  const { names, authenticate } = createReading(settings, longLived);
  const upstreamOf = upstreamsIn(contract, upstreams);
  const urls = storeUrls(config);
  return createPipeline({
    guard: createRequestGuard({
      ...{ config: config.http, observe, names, report: createFaultReporter(contract) },
      beginSpan: tracing === null ? null : tracing.begin(config.tracing),
    }),
    addresses: createAddresses(config.addresses),
    authenticate,
    usage: config.usage.enabled ? createUsage({ ...longLived, answer, operations: contract.operations }) : null,
    admit: createAdmission(config, longLived),
    contract: createContract({
      ...{ maxBodyBytes, largeChecks, clock, report, bodies: longLived.bodies },
      suggest: (path) => contract.similar(path),
      refuseAfterSunset: config.contract.afterSunset === 'refuse',
    }),
    forward: createForward({
      upstreamOf,
      ...toBackend,
      plainAnswers: responses !== 'off',
      pathOf: createStorePaths(contract.prefixes, urls),
    }),
    inspect: createInspection({ mode: responses, maxBodyBytes, largeChecks, report }),
    relay: createRelay({ answer, readAhead: longLived.readAhead }),
    mounts: createMounts({
      maxBodyBytes,
      answer,
      mounts: config.mounts,
      timeouts: config.upstream,
      ...toBackend,
      upstreamOf: (name) => upstreams.of(name),
      storesOf: (name) => urls.get(name)!,
    }),
    pages: ownPages(settings, { guard, answer }),
    cors,
    answer,
    route: createRouting(settings, { uses, observe }),
  });
}

/** The fields that backends get, the names of the fields that clients get from them, and the observer. */
function backendParts({ keys, cors }: Config, { tracing, observe }: LongLived) {
  const untraced = createRequestFields(keys.identity);
  return {
    requestFields: tracing === null ? untraced : tracedFields(untraced),
    returned: new ReturnedNames({ cors: isOfBackend(cors) }),
    observe,
  };
}

function createAdmission({ plans, cors }: Config, { state, bans, flights, observe }: LongLived): Admit {
  const judge = createJudge({ bans, observe });
  const admit = createInFlight({ plans, flights, state, judge, admit: createAdmit({ state, judge }) });
  return isOfBackend(cors) ? admitPreflights(admit) : admit;
}

function createReading({ config, contract }: ActiveConfig<Config>, longLived: LongLived): Reading {
  const { keyring, guard, clock, subjects, tracing } = longLived;
  const { carriers: chosen, hide, identity } = config.keys;
  const own = [...(tracing === null ? [] : TRACE_FIELDS), ...Object.values(identity).filter((name) => name !== null)];
  const usagePath = config.usage.enabled ? USAGE_PATH : null;
  const readingOf = (carriers: Carriers, anonymous: Anonymous | null): Reading => ({
    names: new FieldNames({ strip: config.http.stripHeaders, own, carriers, hide }),
    authenticate: createAuthenticate({
      keyring,
      guard,
      clock,
      carriers,
      anonymous: isOfBackend(config.cors) ? withPreflights(anonymous, usagePath) : anonymous,
    }),
  });
  const plan = publicPlanOf({ config, contract });
  const anonymous = createAnonymous({ contract, plan, subjects, usagePath });
  const { names, authenticate } = readingOf(chosen ?? contract.carriers, anonymous);
  /** The contract takes precedence over mounts. */
  const isOfContract = (method: string, path: string) => findRoute(contract, [], method, path).kind !== 'not_found';
  const ofMount = (carriers: Carriers) => readingOf(carriers, null);
  return { names, authenticate: behindMounts(config.mounts, isOfContract, authenticate, ofMount) };
}

function createRouting(
  { config, contract }: ActiveConfig<Config>,
  { uses, observe }: Pick<LongLived, 'uses' | 'observe'>,
) {
  function note({ id, client, operation }: Exchange): void {
    if (isAnonymous(client!)) return;
    const { keyId, plan, retiresAt } = client!;
    uses.note(keyId);
    if (operation?.deprecated) uses.noteDeprecated(keyId, operation.id);
    if (retiresAt !== null) observe({ type: 'key.retiring', id, keyId, plan });
  }

  const { mounts, cors } = config;
  const passes = isOfBackend(cors) ? isPreflight : () => false;

  return (exchange: Exchange, { path }: Target): Route => {
    const { call, head } = exchange;
    const found = passes(exchange)
      ? findPreflightRoute(contract, mounts, head.preflightMethod!, path)
      : findRoute(contract, mounts, call.method, path);
    if (found.kind === 'operation') exchange.operation = found.operation;
    exchange.route =
      found.kind === 'operation' ? found.operation.id : found.kind === 'mount' ? `mount ${found.mount.path}` : null;
    if (exchange.client) note(exchange);
    return found;
  };
}

function upstreamsIn({ operations }: Contract, upstreams: Upstreams): (operation: Operation) => Stores {
  const byDefault = upstreams.of(DEFAULT_UPSTREAM);
  const named = new Map<Operation, Stores>();
  for (const operation of operations)
    if (operation.upstream !== null) named.set(operation, upstreams.of(operation.upstream));
  return named.size === 0 ? () => byDefault : (operation) => named.get(operation) ?? byDefault;
}

/** By upstream. */
function storeUrls({ upstream, upstreams }: Config): ReadonlyMap<string, readonly string[]> {
  const all = Object.entries({ [DEFAULT_UPSTREAM]: upstream, ...upstreams });
  return new Map(all.map(([name, { stores }]) => [name, stores.map(({ url }) => url)]));
}

/** Without a contract its paths are the backend's. */
export const hasReference = ({ contract, reference }: Config): boolean =>
  reference.enabled && contract.file !== NO_CONTRACT;

function ownPages(settings: ActiveConfig<Config>, parts: Pick<PagesOptions, 'guard' | 'answer'>) {
  const paths = hasReference(settings.config) ? PAGE_PATHS : [];
  return createPages({ ...parts, find: referenceOf(settings), paths, home: homeOf(settings) });
}

/** Unless an operation has `/`, or every path is the backend's. */
function homeOf({ config, contract }: ActiveConfig<Config>): string | null {
  const isFree = findRoute(contract, [], 'GET', '/').kind === 'not_found';
  return isFree && hasReference(config) ? `${REFERENCE_PATH}/` : null;
}

function referenceOf({ config, contract, prepared }: ActiveConfig<Config>): FindPage {
  const open = publicPlanOf({ config, contract });
  return createReference({
    contract: config.usage.enabled ? withUsage(contract) : contract,
    published: prepared.published,
    paths: { page: `${REFERENCE_PATH}/`, json: CONTRACT_JSON_PATH, yaml: CONTRACT_YAML_PATH },
    readers: {
      keyHeader: keyField(config.keys.carriers ?? contract.carriers, '')[0],
      limits: {
        plans: [...config.plans.plans.values(), ...(open === null ? [] : [open])],
        bans: config.plans.escalation,
        scoped: contract.windows.map((window) => ({ ...readScope(window.scope!), window })),
      },
    },
    errors: ERROR_CODES,
  });
}
