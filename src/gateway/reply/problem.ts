/** RFC 9457. */
export const PROBLEM = 'application/problem+json';

/** From 0 to 1. */
type Range = readonly [type: string, weight: number];

/**
 * RFC 9110 section 12.5.1: their type has more weight than `application/json`, or at least the
 * weight of the ranges that cover that. The default is plain JSON.
 */
export function prefersProblem(accept: string | undefined): boolean {
  if (accept === undefined || !accept.toLowerCase().includes(PROBLEM))
    return false;
  const ranges = new Map(accept.toLowerCase().split(',').map(rangeOf));
  const preference = ranges.get(PROBLEM) ?? 0;
  const plain = ranges.get('application/json');
  if (plain !== undefined) return preference > plain;
  return (
    preference > 0 &&
    preference >= (ranges.get('application/*') ?? ranges.get('*/*') ?? 0)
  );
}

function rangeOf(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim());
  const weight =
    parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
  return [
    type,
    /^(?:0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0,
  ];
}
