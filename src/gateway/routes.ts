import type { Mount } from '../config/config.ts';
import type { Contract, Operation } from '../config/contract/contract.ts';

/** The contract stage refuses the last two kinds, after admission. */
export type Route =
  | { readonly kind: 'operation'; readonly operation: Operation; readonly parameters: readonly string[] }
  | { readonly kind: 'mount'; readonly mount: Mount }
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

export function isInMount({ path: prefix }: Mount, path: string): boolean {
  return prefix === '/' || path === prefix || path.startsWith(`${prefix}/`);
}
