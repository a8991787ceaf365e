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
 * Similar paths have the same number of segments, at most one of them different, in at most two characters; letter
 * case, a trailing slash and a missing server prefix are ignored.
 */
export function similarPathsOf(templates: readonly string[], prefixes: readonly string[]) {
  let candidates: readonly Candidate[] | null = null;

  return (path: string): string | null => {
    if (path.length > LONGEST) return null;
    candidates ??= candidatesOf([...new Set(templates)].slice(0, MOST), prefixes);
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

function candidatesOf(templates: readonly string[], prefixes: readonly string[]): Candidate[] {
  return templates.flatMap((template) =>
    prefixes.flatMap((prefix) => {
      const shown = `${prefix}${template}`;
      const whole = { segments: segmentsOf(shown), shown };
      return prefix === '' ? [whole] : [whole, { segments: segmentsOf(template), shown }];
    }),
  );
}

const segmentsOf = (path: string): string[] => path.toLowerCase().replace(/\/$/, '').split('/');

/** Infinity if the paths are not similar. */
function distanceOf(segments: readonly string[], of: readonly string[]): number {
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

function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > NEAR) return Infinity;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
