import type { Headers } from './headers.ts';

export interface HeaderWindow {
  readonly name: string;
  readonly limit: number | null;
  readonly remaining: number;
  readonly seconds: number | null;
}

/** `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers. */
export function headerWindows(headers: Headers): readonly HeaderWindow[] {
  const policies = new Map(items(headers['ratelimit-policy']).map(({ name, numbers }) => [name, numbers.q]));
  return items(headers.ratelimit).flatMap(({ name, numbers: { r, t } }) =>
    r === undefined ? [] : [{ name, limit: policies.get(name) ?? null, remaining: r, seconds: t ?? null }],
  );
}

interface Item {
  readonly name: string;
  readonly numbers: Readonly<Record<string, number>>;
}

/** A list of strings with integer parameters (RFC 9651): `"minute";r=59;t=60, "day";r=999;t=86400`. */
function items(text = ''): Item[] {
  return [...text.matchAll(/"([^"]*)"((?:;\s*\w+=[^;,]*)*)/g)].map(([, name, parameters]) => ({
    name: name!,
    numbers: Object.fromEntries(
      [...parameters!.matchAll(/(\w+)=(\d+)/g)].map(([, parameter, value]) => [parameter, Number(value)]),
    ),
  }));
}
