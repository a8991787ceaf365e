import type { Mount } from '../config/config.ts';
import type { Contract, Operation } from '../config/contract/contract.ts';

/**
 * The contract stage refuses the last two kinds, after admission. `preflight` leads to the backend of
 * an operation, which the contract describes for other methods.
 */
export type Route =
  | { readonly kind: 'operation'; readonly operation: Operation; readonly parameters: readonly string[] }
  | { readonly kind: 'mount'; readonly mount: Mount }
  | { readonly kind: 'preflight'; readonly operation: Operation }
  | { readonly kind: 'method_not_allowed'; readonly allow: readonly string[] }
  | { readonly kind: 'not_found' };

const NOT_FOUND: Route = { kind: 'not_found' };

/** The contract matches first. */
export function findRoute(contract: Contract, mounts: readonly Mount[], method: string, path: string): Route {
  const match = contract.match(method, path);
  if (match.operation) return { kind: 'operation', operation: match.operation, parameters: match.parameters };
  if (match.allow) return { kind: 'method_not_allowed', allow: match.allow };
  const mount = mounts.find((mount) => isInMount(mount, path));
  return mount ? { kind: 'mount', mount } : NOT_FOUND;
}

/** `asked`: the method that a page wants to use. If the path lacks it, the backend still responds. */
export function findPreflightRoute(contract: Contract, mounts: readonly Mount[], asked: string, path: string): Route {
  const found = findRoute(contract, mounts, asked, path);
  if (found.kind === 'operation') return { kind: 'preflight', operation: found.operation };
  const [other] = found.kind === 'method_not_allowed' ? found.allow : [];
  return other === undefined ? found : findPreflightRoute(contract, mounts, other, path);
}

export function isInMount({ path: prefix }: Mount, path: string): boolean {
  return prefix === '/' || path === prefix || path.startsWith(`${prefix}/`);
}
