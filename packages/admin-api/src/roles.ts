import { VALUES } from './generated/operations.ts';
import type { Role } from './generated/types.ts';

/** Each role includes the roles before it. */
export const ROLES = VALUES.Role;

/** Whether `role` includes the permissions of `needed`. */
export const includesRole = (role: Role, needed: Role): boolean =>
  ROLES.indexOf(role) >= ROLES.indexOf(needed);
