import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Role } from '../admin-api.ts';
import { type Session, SIGNED_OUT } from './api/client.ts';

const ROLES: readonly Role[] = ['read', 'operate', 'admin'];

export const SessionContext = createContext<Session>(SIGNED_OUT);

/**
 * Whether the role of the signed-in operator may do what needs this one. The API refuses it all the
 * same.
 */
export function useMay(needed: Role): boolean {
  return ROLES.indexOf(useContext(SessionContext).operator!.role) >= ROLES.indexOf(needed);
}
