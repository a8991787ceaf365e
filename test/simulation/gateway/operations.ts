import { MINUTE } from '../../../src/common/time.ts';
import type { Window } from '../../../src/limits/limits.ts';
import { NO_SCOPES, type Scopes, scopeOfOperation } from '../../../src/limits/scopes.ts';

interface SimulatedOperation {
  readonly isPublic: boolean;
  readonly cost: number;
  readonly scopes: Scopes;
}

const LOGIN = scopeOfOperation('login');

/** The operations that clients call. */
export const OPERATIONS = {
  read: { isPublic: false, cost: 1, scopes: NO_SCOPES },
  search: { isPublic: false, cost: 5, scopes: NO_SCOPES },
  login: { isPublic: false, cost: 1, scopes: [LOGIN] as Scopes },
  news: { isPublic: true, cost: 1, scopes: NO_SCOPES },
} satisfies Readonly<Record<string, SimulatedOperation>>;

export type OperationName = keyof typeof OPERATIONS;

/** The windows of the contract. */
export const SCOPED: readonly Window[] = [
  { name: 'minute', kind: 'fixed', limit: 20, span: MINUTE, scope: LOGIN },
];
