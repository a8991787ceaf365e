/** Names in lower case. */
export type Headers = Readonly<Record<string, string>>;

/** What a refusal by a limit or a ban means; `null` for other responses. */
export function refusal(
  status: number,
  { 'retry-after': retry }: Headers,
): string | null {
  if (status === 429) return `Over the limit: wait ${retry ?? 'some'} seconds`;
  if (status === 403 && retry !== undefined)
    return `Banned for a while: wait ${retry} seconds`;
  return null;
}

export interface HeaderWindow {
  readonly name: string;
  readonly limit: number | null;
  readonly remaining: number;
}

/** `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers. */
export function headerWindows(headers: Headers): readonly HeaderWindow[] {
  const policies = new Map(
    items(headers['ratelimit-policy']).map(({ name, numbers }) => [
      name,
      numbers.q,
    ]),
  );
  return items(headers.ratelimit).flatMap(({ name, numbers: { r } }) =>
    r === undefined
      ? []
      : [{ name, limit: policies.get(name) ?? null, remaining: r }],
  );
}

export function windowText({ name, limit, remaining }: HeaderWindow): string {
  const whole = limit === null ? '' : ` of ${limit.toLocaleString('en')}`;
  return `${remaining.toLocaleString('en')}${whole} left per ${name}`;
}

interface Item {
  readonly name: string;
  readonly numbers: Readonly<Record<string, number>>;
}

/**
 * A list of strings with integer parameters (RFC 9651): `"minute";r=59;t=60, "day";r=999;t=86400`.
 */
function items(text = ''): Item[] {
  return [...text.matchAll(/"([^"]*)"((?:;\s*\w+=[^;,]*)*)/g)].map(
    ([, name, parameters]) => {
      const numbers = [...parameters!.matchAll(/(\w+)=(\d+)/g)];
      return {
        name: name!,
        numbers: Object.fromEntries(
          numbers.map(([, parameter, value]) => [parameter, Number(value)]),
        ),
      };
    },
  );
}
