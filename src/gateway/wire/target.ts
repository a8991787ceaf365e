import {
  type Target,
  type TargetFlaw,
  type TargetRules,
  targetOf,
} from '@storegate/openapi';
import { Refusal } from '../../common/errors/refusals.ts';

export type {
  Target as RequestTarget,
  TargetRules as PathRules,
} from '@storegate/openapi';

/** Throws a Refusal for a target that two readers might read differently. */
export function parseTarget(url: string, rules?: TargetRules): Target {
  const target = targetOf(url, rules);
  if ('message' in target) throw targetRefusal(target);
  return target;
}

export function targetRefusal({
  in: place,
  message,
  advice,
  rule,
}: TargetFlaw): Refusal {
  return new Refusal('malformed_request', {
    message: `The ${place} ${message}. ${advice}.`,
    ...(rule !== undefined && { reason: `contract.${rule} is refuse` }),
  });
}

export const segmentsIn = (path: string): number => path.split('/').length - 1;

/**
 * Segments have the same number in every spelling of a path. The rest begins with `/` or `?`, or is
 * empty.
 */
export function afterSegments(raw: string, count: number): string {
  const mark = raw.indexOf('?');
  const end = mark < 0 ? raw.length : mark;
  let at = 0;
  for (let i = 0; i < count; i++) {
    const slash = raw.indexOf('/', at + 1);
    if (slash < 0 || slash > end) return raw.slice(end);
    at = slash;
  }
  return raw.slice(at);
}
