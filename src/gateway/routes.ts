import type { TargetPaths } from '@storegate/openapi';
import type { Mount } from '../config/config.ts';
import type { Contract, Operation } from '../config/contract/contract.ts';
import { DEFAULT_UPSTREAM } from '../config/upstreams.ts';
import { NO_SCOPES, type Scopes } from '../limits/scopes.ts';
import type { Observe } from '../observe/events.ts';
import type { Upstreams } from './upstream/backends.ts';
import type { Timeouts } from './upstream/pools.ts';
import {
  mountRewriting,
  prefixRewriting,
  type Rewriting,
} from './upstream/rewriting.ts';
import { createTargetProxy } from './upstream/target-proxy.ts';
import type { Upstream } from './upstream/upstream.ts';
import { type Send, sendUpstream } from './upstream/upstream-request.ts';
import type { ReturnedNames } from './wire/fields.ts';

/**
 * What is checked of a request, where it goes, and its limits. Each rule of the pipeline holds for
 * each route.
 */
export interface Route {
  /** In events: an operationId, or `mount <path>`; `null` for preflights of operations. */
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
  readonly contract: Contract;
  /** The first that matches is used. */
  readonly mounts: readonly Mount[];
  readonly maxBodyBytes: number;
  readonly upstreams: Pick<Upstreams, 'of'>;
  /** For all backends. */
  readonly hosts: ReadonlySet<string>;
  /** For mounts with a target. */
  readonly timeouts: Timeouts;
  readonly observe: Observe;
  readonly returned: ReturnedNames;
}

/** Where requests go, and the URLs of the backends. */
interface Way extends Pick<Route, 'send' | 'rewriting'> {
  readonly urls: readonly string[];
}

export type Routes = ReturnType<typeof createRoutes>;

const NOT_FOUND: RouteMatch = { kind: 'not_found' };
const NO_PARAMETERS: readonly string[] = [];

export function createRoutes(parts: RoutesParts) {
  const { contract, mounts, maxBodyBytes, upstreams, timeouts } = parts;
  const { observe, returned, hosts } = parts;
  const ways = new Map<string, Way>();
  /** For requests that the contract does not describe. */
  const undescribed = {
    name: null,
    operation: null,
    cost: 1,
    scopes: NO_SCOPES,
    maxBodyBytes,
    headersTimeout: null,
    websocket: false,
    reportsCost: true,
  };
  const byOperation = new Map(
    contract.operations.map((operation) => [operation, routeTo(operation)]),
  );
  const ofMounts = mounts.map((mount) => [mount, routeBelow(mount)] as const);

  function sendTo(upstream: Upstream): Send {
    return (exchange, request) =>
      sendUpstream({ upstream, observe, returned, exchange, request });
  }

  function wayTo(name: string): Way {
    const existing = ways.get(name);
    if (existing !== undefined) return existing;
    const upstream = upstreams.of(name);
    const urls = upstream.backends.map(({ url }) => url);
    const rewriting = prefixRewriting(contract.prefixes, urls);
    const way = { send: sendTo(upstream), rewriting, urls };
    ways.set(name, way);
    return way;
  }

  function routeTo(operation: Operation): Route {
    const { id, cost, scopes, upstream, headersTimeout, largestBody } =
      operation;
    const { send, rewriting } = wayTo(upstream ?? DEFAULT_UPSTREAM);
    return {
      name: id,
      operation,
      cost,
      scopes,
      // The contract can only lower the general limit.
      maxBodyBytes:
        largestBody ??
        Math.min(maxBodyBytes, operation.maxBodyBytes ?? maxBodyBytes),
      headersTimeout,
      websocket: false,
      reportsCost: true,
      send,
      rewriting,
    };
  }

  function routeBelow(mount: Mount): Route {
    const { path, target, upstream, websocket } = mount;
    const reportsCost =
      mount.reportsCost ??
      (target === null || hosts.has(new URL(target).hostname));
    const { send, urls } =
      target === null
        ? wayTo(upstream!)
        : { send: sendTo(createTargetProxy(target, timeouts)), urls: [target] };
    const name = `mount ${path}`;
    const rewriting = mountRewriting(mount, urls);
    return { ...undescribed, name, websocket, reportsCost, send, rewriting };
  }

  /** The contract matches first. */
  function find(method: string, target: TargetPaths): RouteMatch {
    const match = contract.matchTarget(method, target);
    if (match.operation) {
      const route = byOperation.get(match.operation)!;
      return { kind: 'route', route, parameters: match.parameters };
    }
    // A mount does not take the path of an operation that the contract omits.
    if (match.allow?.length === 0) return NOT_FOUND;
    if (match.allow) return { kind: 'method_not_allowed', allow: match.allow };
    const mounted = ofMounts.find(([mount]) => isInMount(mount, target.path));
    return mounted
      ? { kind: 'route', route: mounted[1], parameters: NO_PARAMETERS }
      : NOT_FOUND;
  }

  /**
   * `asked`: the method that a page wants to use. If the path lacks it, the backend still responds.
   */
  function findPreflight(request: string, target: TargetPaths): RouteMatch {
    const found = find(request, target);
    if (found.kind === 'route' && found.route.operation !== null)
      return { ...found, route: preflightOf(found.route) };
    const [other] = found.kind === 'method_not_allowed' ? found.allow : [];
    return other === undefined ? found : findPreflight(other, target);
  }

  function routeToBackend(): Route {
    const { send, rewriting } = wayTo(DEFAULT_UPSTREAM);
    return { ...undescribed, send, rewriting };
  }

  return {
    find,
    findPreflight,
    routeToBackend,
    takesTunnels: mounts.some(({ websocket }) => websocket),
  };
}

/** It leads to the backend of an operation, which the contract describes for other methods. */
function preflightOf(route: Route): Route {
  return { ...route, name: null, operation: null, cost: 1, scopes: NO_SCOPES };
}

export function isInMount({ path: prefix }: Mount, path: string): boolean {
  return prefix === '/' || path === prefix || path.startsWith(`${prefix}/`);
}
