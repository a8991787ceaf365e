import { includesRole, type Role } from '@storegate/admin-api';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { type Session, SIGNED_OUT } from './api/client.ts';

export const SessionContext = createContext<Session>(SIGNED_OUT);

/**
 * Whether the role of the signed-in operator may do what needs this one. The API refuses it all the
 * same.
 */
export function useMay(needed: Role): boolean {
  return includesRole(useContext(SessionContext).operator!.role, needed);
}
