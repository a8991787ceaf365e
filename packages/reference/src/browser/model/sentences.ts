import type { ApiDocument, Operation, WindowNotation } from './document.ts';

/** An operation of the admin API has a role, and no limit. */
export function sentences(
  operation: Operation,
  document: Pick<ApiDocument, 'tags'>,
): string[] {
  const {
    'x-ratelimit-cost': cost = 1,
    'x-role': role,
    'x-required-scopes': scopes = [],
  } = operation;
  const { 'x-stability-level': level, 'x-max-body-bytes': most } = operation;
  const needed = `${scopes.length === 1 ? 'the scope' : 'the scopes'} ${scopes.join(', ')}`;
  const given = [
    role === undefined
      ? counting(cost)
      : `Needs a token of the role ${role}${role === 'admin' ? '' : ', or of a higher one'}.`,
    level === 'beta' && 'Beta: it may still change, with notice.',
    level === 'experimental' &&
      'Experimental: it may change or go at any time.',
    operation['x-try-it'] === false && 'It cannot be tried from this page.',
    scopes.length > 0 && `Needs a key with ${needed}.`,
    most !== undefined &&
      `Takes a body of at most ${most.toLocaleString('en')} bytes.`,
    operation['x-storegate-unchecked-body'] === true &&
      'Some bodies are not checked.',
    ...scopedLimits(operation, document),
  ];
  return given.filter((sentence) => sentence !== false);
}

function counting(cost: number): string {
  return cost === 0
    ? 'Counts against no limit.'
    : `Counts as ${cost} ${cost === 1 ? 'request' : 'requests'}.`;
}

interface Limited {
  readonly 'x-ratelimit'?: WindowNotation;
}

export function scopedLimits(
  operation: Limited & { readonly tags?: readonly string[] },
  {
    tags = [],
  }: { readonly tags?: readonly (Limited & { readonly name: string })[] },
): string[] {
  const shared = tags.filter(({ name }) => operation.tags?.includes(name));
  return [
    ...limitSentence(operation, 'for this operation'),
    ...shared.flatMap((tag) =>
      limitSentence(tag, `for all operations of ${tag.name} together`),
    ),
  ];
}

function limitSentence(
  { 'x-ratelimit': windows }: Limited,
  where: string,
): string[] {
  const words = windows === undefined ? null : windowsText(windows);
  return words === null ? [] : [`Limited to ${words} ${where}.`];
}

/** `null`: all windows only watch. */
function windowsText(windows: WindowNotation): string | null {
  const texts =
    typeof windows === 'string'
      ? windows.split(',').filter(isShown).map(windowText)
      : windows
          .filter(({ enforce }) => enforce !== false)
          .map(
            ({ limit, per, kind, zone }) =>
              `${limit} per ${per}${remark(kind, zone)}`,
          );
  return texts.length === 0 ? null : texts.join(' and ');
}

/** Windows that only watch refuse nothing. */
const isShown = (short: string): boolean => !short.trim().endsWith('+watch');

function windowText(short: string): string {
  return short
    .trim()
    .replace(/\+overage$/, '')
    .replace('/', ' per ')
    .replace(/:(\w+)(?::([^:]+).*)?$/, (_all, kind, zone) =>
      remark(kind, zone),
    );
}

function remark(kind?: string, zone?: string): string {
  if (kind === undefined) return '';
  return zone === undefined ? ` (${kind})` : ` (${kind}, ${zone})`;
}
