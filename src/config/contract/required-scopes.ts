import type { Findings, Json } from '@storegate/openapi';
import { MAX_SCOPE_LENGTH, MAX_SCOPES, SCOPE_FORM, scopesError } from '../../common/scopes.ts';

export const REQUIRED_SCOPES = 'x-required-scopes';

/** Mistakes are never tolerated: they decide about access. */
export function readRequiredScopes(operation: Json, findings: Findings): readonly string[] {
  const value = operation[REQUIRED_SCOPES];
  if (value === undefined) return [];
  const flaw = errorOf(value);
  if (flaw === null) return Object.freeze([...(value as string[])]);
  findings.refuse(operation, REQUIRED_SCOPES, flaw);
  return [];
}

/** An empty list is refused: without restriction, the field is left out. */
function errorOf(value: unknown): string | null {
  if (!Array.isArray(value) || value.length === 0 || !value.every((name) => typeof name === 'string'))
    return `must be a list of 1 to ${MAX_SCOPES} names of scopes`;
  const flaw = scopesError(value);
  if (flaw === null) return null;
  if (flaw.kind === 'many') return `must have at most ${MAX_SCOPES} scopes`;
  const name = JSON.stringify(value[flaw.at]!.slice(0, MAX_SCOPE_LENGTH));
  return flaw.kind === 'twice' ? `has ${name} twice` : `${name} is not a valid scope name: ${SCOPE_FORM}`;
}
