import { isObject } from '../../common/shapes.ts';

type Line = Readonly<Record<string, unknown>>;

/**
 * A line of a file of format 1, which omits empty scopes and counts of zero, as a line of this
 * version. The line may have any form, which the checks then refuse.
 */
export function upgradeLine(line: Line): Line {
  if (line.type === 'key') return { scopes: [], ...line };
  if (line.type === 'trailer' && isObject(line.counts))
    return { ...line, counts: { ban: 0, usage: 0, ...line.counts } };
  return line;
}
