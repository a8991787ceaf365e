import {
  type Description,
  type Document,
  type Findings,
  type Json,
  shown,
} from '@storegate/openapi';
import { suggest } from '../../common/suggest.ts';
import { formatDuration, parseDuration } from '../../limits/notation.ts';
import type { OperationSettings } from '../config.ts';
import { RATELIMIT_COST } from './limits.ts';

export const TIMEOUT = 'x-timeout';

/** Milliseconds. */
const LONGEST = 86_400_000;

export interface OperationLimits {
  /** Milliseconds; `null`: that of the upstream. */
  readonly headersTimeout: number | null;
  /** From the settings: it may be above the general limit. */
  readonly largestBody: number | null;
}

/** Writes the settings into the document, which is then read and published with them. */
export function applySettings(
  settings: OperationSettings,
  { root }: Document,
  operations: readonly (readonly [Description, Json])[],
  findings: Findings,
): void {
  const nodes = new Map(operations.map(([{ id }, node]) => [id, node]));
  for (const [id, own] of Object.entries(settings)) {
    const node = nodes.get(id);
    if (node === undefined) {
      const near = suggest(id, [...nodes.keys()]);
      const hint = near === null ? '' : `; did you mean ${near}?`;
      const message = `has no operation ${shown(id)}, which operations in gateway.yaml names${hint}`;
      findings.refuse(root, null, message);
      continue;
    }
    const { timeout, maxBodyBytes, cost } = own;
    if (timeout !== null) node[TIMEOUT] = formatDuration(timeout);
    if (maxBodyBytes !== null) node['x-max-body-bytes'] = maxBodyBytes;
    if (cost !== null) node[RATELIMIT_COST] = cost;
  }
}

export function readTimeout(node: Json, findings: Findings): number | null {
  const text = node[TIMEOUT];
  if (text === undefined) return null;
  const timeout = typeof text === 'string' ? parseDuration(text) : null;
  if (timeout !== null && timeout > 0 && timeout <= LONGEST) return timeout;
  findings.problem(
    node,
    TIMEOUT,
    'must be a duration from 1ms to 1d, such as 30s',
  );
  return null;
}
