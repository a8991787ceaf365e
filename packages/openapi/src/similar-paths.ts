import { editDistance } from './nearest.ts';

/** To bound the work for one request. */
const LONGEST = 200;
const MOST = 1_000;
/** In characters. */
const NEAR = 2;

interface Candidate {
  readonly segments: readonly string[];
  readonly shown: string;
}

/**
 * Similar paths have the same number of segments, at most one of them different, in at most two
 * characters; letter case, a trailing slash and a missing server prefix are ignored.
 */
export function similarPathsOf(
  templates: readonly string[],
  prefixes: readonly string[],
) {
  let candidates: readonly Candidate[] | null = null;

  return (path: string): string | null => {
    if (path.length > LONGEST) return null;
    candidates ??= candidatesOf(
      [...new Set(templates)].slice(0, MOST),
      prefixes,
    );
    const segments = segmentsOf(path);
    let nearest: string | null = null;
    let least = NEAR + 1;
    for (const candidate of candidates) {
      const distance = distanceOf(segments, candidate.segments);
      if (distance >= least) continue;
      least = distance;
      nearest = candidate.shown;
    }
    return nearest;
  };
}

function candidatesOf(
  templates: readonly string[],
  prefixes: readonly string[],
): Candidate[] {
  return templates.flatMap((template) =>
    prefixes.flatMap((prefix) => {
      const shown = `${prefix}${template}`;
      const whole = { segments: segmentsOf(shown), shown };
      return prefix === ''
        ? [whole]
        : [whole, { segments: segmentsOf(template), shown }];
    }),
  );
}

const segmentsOf = (path: string) =>
  path.toLowerCase().replace(/\/$/, '').split('/');

/** Infinity if the paths are not similar. */
function distanceOf(
  segments: readonly string[],
  of: readonly string[],
): number {
  if (segments.length !== of.length) return Infinity;
  let distance = 0;
  for (const [i, segment] of segments.entries()) {
    const other = of[i]!;
    if (segment === other || (segment !== '' && other.includes('{'))) continue;
    if (distance > 0) return Infinity;
    distance = editDistance(segment, other);
    if (distance > NEAR || distance * 3 > other.length) return Infinity;
  }
  return distance;
}
