import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Role } from '../admin-api.ts';
import { type Operator, type Session, SIGNED_OUT } from './api/client.ts';

const ROLES: readonly Role[] = ['read', 'operate', 'admin'];

export const SessionContext = createContext<Session>(SIGNED_OUT);

/** The signed-in operator. Only for views that need a session. */
export function useOperator(): Operator {
  return useContext(SessionContext).operator!;
}

/** Pages of other systems, see `console.links`. */
export function useLinks(): Session['links'] {
  return useContext(SessionContext).links;
}

/** Whether the operator's role may do what needs this one. The API refuses it all the same. */
export function useMay(needed: Role): boolean {
  return ROLES.indexOf(useOperator().role) >= ROLES.indexOf(needed);
}
