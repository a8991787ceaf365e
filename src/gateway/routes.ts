import type { Mount } from '../config/config.ts';
import type { Contract, Operation } from '../config/contract/contract.ts';
import { DEFAULT_UPSTREAM } from '../config/upstreams.ts';
import { NO_SCOPES, type Scopes } from '../limits/scopes.ts';
import {
  mountRewriting,
  prefixRewriting,
  type Rewriting,
} from './upstream/rewriting.ts';
import type { Send } from './upstream/upstream-request.ts';

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
  readonly websocket: boolean;
  readonly send: Send;
  /** `null`: paths stay unchanged. */
  readonly rewriting: Rewriting | null;
}

/** The contract stage refuses the last two kinds, after admission. */
export type RouteMatch =
  | {
      readonly kind: 'route';
      readonly route: Route;
      readonly parameters: readonly string[];
    }
  | { readonly kind: 'method_not_allowed'; readonly allow: readonly string[] }
  | { readonly kind: 'not_found' };

interface RoutesParts {
  readonly contract: Contract;
  /** The first that matches is used. */
  readonly mounts: readonly Mount[];
  readonly maxBodyBytes: number;
  readonly sendTo: (destination: Destination) => Send;
  /** Of its backends. */
  readonly urlsOf: (destination: Destination) => readonly string[];
}

export type Destination = Pick<Mount, 'target' | 'upstream'>;

export type Routes = ReturnType<typeof createRoutes>;

const NOT_FOUND: RouteMatch = { kind: 'not_found' };
const NO_PARAMETERS: readonly string[] = [];

export function createRoutes({
  contract,
  mounts,
  maxBodyBytes,
  sendTo,
  urlsOf,
}: RoutesParts) {
  const rewritings = new Map<string, Rewriting | null>();
  const byOperation = new Map(
    contract.operations.map((operation) => [operation, routeTo(operation)]),
  );
  const ofMounts = mounts.map((mount) => [mount, routeBelow(mount)] as const);

  function routeTo(operation: Operation): Route {
    const upstream = operation.upstream ?? DEFAULT_UPSTREAM;
    return {
      name: operation.id,
      operation,
      cost: operation.cost,
      scopes: operation.scopes,
      // An operation can only lower the general limit.
      maxBodyBytes: Math.min(
        maxBodyBytes,
        operation.maxBodyBytes ?? maxBodyBytes,
      ),
      websocket: false,
      send: sendTo({ target: null, upstream }),
      rewriting: rewritingTo(upstream),
    };
  }

  function rewritingTo(upstream: string): Rewriting | null {
    const known = rewritings.get(upstream);
    if (known !== undefined) return known;
    const made = prefixRewriting(
      contract.prefixes,
      urlsOf({ target: null, upstream }),
    );
    rewritings.set(upstream, made);
    return made;
  }

  function routeBelow(mount: Mount): Route {
    return {
      name: `mount ${mount.path}`,
      operation: null,
      cost: 1,
      scopes: NO_SCOPES,
      maxBodyBytes,
      websocket: mount.websocket,
      send: sendTo(mount),
      rewriting: mountRewriting(mount, urlsOf(mount)),
    };
  }

  /** The contract matches first. */
  function find(method: string, path: string): RouteMatch {
    const match = contract.match(method, path);
    if (match.operation) {
      const route = byOperation.get(match.operation)!;
      return { kind: 'route', route, parameters: match.parameters };
    }
    // A mount does not take the path of an operation that the contract omits.
    if (match.allow?.length === 0) return NOT_FOUND;
    if (match.allow) return { kind: 'method_not_allowed', allow: match.allow };
    const mounted = ofMounts.find(([mount]) => isInMount(mount, path));
    return mounted
      ? { kind: 'route', route: mounted[1], parameters: NO_PARAMETERS }
      : NOT_FOUND;
  }

  /**
   * `asked`: the method that a page wants to use. If the path lacks it, the backend still responds.
   */
  function findPreflight(asked: string, path: string): RouteMatch {
    const found = find(asked, path);
    if (found.kind === 'route' && found.route.operation !== null)
      return { ...found, route: preflightOf(found.route) };
    const [other] = found.kind === 'method_not_allowed' ? found.allow : [];
    return other === undefined ? found : findPreflight(other, path);
  }

  /** Of a request that the contract does not describe. */
  function routeToBackend(): Route {
    return {
      name: null,
      operation: null,
      cost: 1,
      scopes: NO_SCOPES,
      maxBodyBytes,
      websocket: false,
      send: sendTo({ target: null, upstream: DEFAULT_UPSTREAM }),
      rewriting: rewritingTo(DEFAULT_UPSTREAM),
    };
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
