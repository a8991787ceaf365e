import type { TargetPaths } from '@storegate/openapi';
import { remembered } from '../common/remembered.ts';
import { undescribedName } from '../config/apis.ts';
import type { Api } from '../config/config.ts';
import type { Contract, Operation } from '../config/contract/contract.ts';
import { NO_CONTRACT } from '../config/contract/place.ts';
import type { Scopes } from '../limits/scopes.ts';
import type { Observe } from '../observe/events.ts';
import type { Upstreams } from './upstream/backends.ts';
import type { Timeouts } from './upstream/pools.ts';
import { type Rewriting, rewritingOf } from './upstream/rewriting.ts';
import { createTargetProxy } from './upstream/target-proxy.ts';
import type { Upstream } from './upstream/upstream.ts';
import { type Send, sendUpstream } from './upstream/upstream-request.ts';
import type { ReturnedNames } from './wire/fields.ts';

/**
 * What is checked of a request, where it goes, and its limits. Each rule of the pipeline holds for
 * each route.
 */
export interface Route {
  /** In events: an operationId, or `undescribedName`; `null` for preflights of operations. */
  readonly name: string | null;
  /** `null`: the contract does not describe the request. */
  readonly operation: Operation | null;
  readonly cost: number;
  readonly scopes: Scopes;
  readonly maxBodyBytes: number;
  /** Milliseconds; `null`: that of the upstream. */
  readonly headersTimeout: number | null;
  readonly websocket: boolean;
  /** Whether the cost that its responses report is charged. */
  readonly reportsCost: boolean;
  readonly send: Send;
  /** `null`: paths stay unchanged. */
  readonly rewriting: Rewriting | null;
}

/** The contract stage refuses the last two kinds, after admission. */
export type RouteMatch =
  | {
      readonly kind: 'route';
      readonly route: Route;
      /** `null`: the contract stage refuses the path. */
      readonly parameters: readonly string[] | null;
    }
  | { readonly kind: 'method_not_allowed'; readonly allow: readonly string[] }
  | { readonly kind: 'not_found' };

interface RoutesParts {
  readonly api: Pick<
    Api,
    | 'name'
    | 'contract'
    | 'target'
    | 'backends'
    | 'websocket'
    | 'http'
    | 'trustsCost'
  >;
  readonly contract: Contract;
  /** The path of the API, which targets lack; `''`: they have it. */
  readonly stripped: string;
  readonly upstreams: Pick<Upstreams, 'of'>;
  /** Of all requests to the API. */
  readonly scopes: Scopes;
  /** For all backends. */
  readonly hosts: ReadonlySet<string>;
  /** For a target. */
  readonly timeouts: Timeouts;
  readonly observe: Observe;
  readonly returned: ReturnedNames;
}

export type Routes = ReturnType<typeof createRoutes>;

const NOT_FOUND: RouteMatch = { kind: 'not_found' };
const NO_PARAMETERS: readonly string[] = [];

export function createRoutes(parts: RoutesParts) {
  const { api, contract, stripped, scopes, upstreams, timeouts } = parts;
  const { observe, returned, hosts } = parts;
  const { maxBodyBytes } = api.http;
  /** With `scopes`: counters compare lists by identity. */
  const scopesOf = remembered((own: Scopes) =>
    own.length === 0 ? scopes : Object.freeze([...scopes, ...own]),
  );
  const ways = new Map<string, Pick<Route, 'send' | 'rewriting'>>();
  const general = api.target !== null ? wayToTarget(api.target) : null;
  const byOperation = new Map(
    contract.operations.map((operation) => [operation, routeTo(operation)]),
  );
  /** For requests that the contract does not describe. */
  const undescribed: Route | null =
    general === null && api.backends === null
      ? null
      : {
          name: undescribedName(api),
          operation: null,
          cost: 1,
          scopes,
          maxBodyBytes,
          headersTimeout: null,
          websocket: api.websocket,
          reportsCost:
            api.target === null ||
            api.trustsCost ||
            hosts.has(new URL(api.target).hostname),
          ...(general ?? wayTo(api.backends!)),
        };
  const unchecked: RouteMatch =
    undescribed === null || api.contract.file !== NO_CONTRACT
      ? NOT_FOUND
      : { kind: 'route', route: undescribed, parameters: NO_PARAMETERS };

  function sendTo(upstream: Upstream): Send {
    return (exchange, request) =>
      sendUpstream({ upstream, observe, returned, exchange, request });
  }

  function wayToTarget(target: string) {
    return {
      send: sendTo(createTargetProxy(target, timeouts)),
      rewriting: rewritingOf(stripped, contract.prefixes, [target]),
    };
  }

  function wayTo(name: string) {
    const existing = ways.get(name);
    if (existing !== undefined) return existing;
    const upstream = upstreams.of(name);
    const urls = upstream.backends.map(({ url }) => url);
    const rewriting = rewritingOf(stripped, contract.prefixes, urls);
    const way = { send: sendTo(upstream), rewriting };
    ways.set(name, way);
    return way;
  }

  function routeTo(operation: Operation): Route {
    const { id, cost, upstream, headersTimeout, largestBody } = operation;
    return {
      name: id,
      operation,
      cost,
      scopes: scopesOf(operation.scopes),
      // The contract can only lower the general limit.
      maxBodyBytes:
        largestBody ??
        Math.min(maxBodyBytes, operation.maxBodyBytes ?? maxBodyBytes),
      headersTimeout,
      websocket: false,
      reportsCost: true,
      ...(upstream === null && general !== null
        ? general
        : wayTo(upstream ?? api.backends!)),
    };
  }

  function find(method: string, target: TargetPaths): RouteMatch {
    const match = contract.matchTarget(method, target);
    if (match.operation) {
      const route = byOperation.get(match.operation)!;
      return { kind: 'route', route, parameters: match.parameters };
    }
    // Paths of operations that the contract omits.
    if (match.allow?.length === 0) return NOT_FOUND;
    if (match.allow) return { kind: 'method_not_allowed', allow: match.allow };
    return unchecked;
  }

  /**
   * `asked`: the method that a page wants to use. If the path lacks it, the backend still responds.
   */
  function findPreflight(request: string, target: TargetPaths): RouteMatch {
    const found = find(request, target);
    if (found.kind === 'route' && found.route.operation !== null)
      return { ...found, route: preflightOf(found.route, scopes) };
    const [other] = found.kind === 'method_not_allowed' ? found.allow : [];
    return other === undefined ? found : findPreflight(other, target);
  }

  return {
    find,
    findPreflight,
    /** `null`: nothing has such requests. */
    undescribed,
    takesTunnels: api.websocket,
  };
}

/** It leads to the backend of an operation, which the contract describes for other methods. */
function preflightOf(route: Route, scopes: Scopes): Route {
  return { ...route, name: null, operation: null, cost: 1, scopes };
}
