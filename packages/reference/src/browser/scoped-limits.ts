import type { WindowNotation } from './window-notation.ts';

interface Limited {
  readonly 'x-ratelimit'?: WindowNotation;
}

export function scopedLimits(
  operation: Limited & { readonly tags?: readonly string[] },
  { tags = [] }: { readonly tags?: readonly (Limited & { readonly name: string })[] },
): string[] {
  const own = operation['x-ratelimit'];
  const shared = tags.filter(({ name }) => operation.tags?.includes(name));
  return [
    ...(own === undefined ? [] : [`Limited to ${inWords(own)} for this operation.`]),
    ...shared.flatMap(({ name, 'x-ratelimit': windows }) =>
      windows === undefined ? [] : [`Limited to ${inWords(windows)} for all operations of ${name} together.`],
    ),
  ];
}

function inWords(windows: WindowNotation): string {
  const texts =
    typeof windows === 'string'
      ? windows.split(',').map((part) =>
          part
            .trim()
            .replace('/', ' per ')
            .replace(/:(\w+)$/, ' ($1)'),
        )
      : windows.map(({ limit, per, kind }) => `${limit} per ${per}${kind === undefined ? '' : ` (${kind})`}`);
  return texts.join(' and ');
}
