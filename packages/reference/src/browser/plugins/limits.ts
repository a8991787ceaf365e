import {
  type Headers,
  h,
  type ImmutableMap,
  type Plugin,
  type Rendered,
  system,
} from '../swagger-ui.ts';

export const limits: Plugin = {
  wrapComponents: {
    liveResponse: (Original) => (props) => {
      const response = props.response as ImmutableMap;
      const headers = ((response.get('headers') as ImmutableMap | undefined)?.toJS() ??
        {}) as Headers;
      return h(
        system.React.Fragment,
        null,
        summary(Number(response.get('status')), headers),
        h(Original, props),
      );
    },
  },
};

function summary(status: number, headers: Headers): Rendered {
  const { 'x-ratelimit-limit': limit, 'x-ratelimit-reset': reset, 'retry-after': retry } = headers;
  if (limit === undefined) return null;
  const tile = (name: string, value: string | undefined, note: string) =>
    value === undefined
      ? null
      : h(
          'div',
          { key: name },
          h('dt', null, name),
          h('dd', null, h('b', null, value), ' ', h('small', null, note)),
        );
  return h(
    'div',
    { className: status === 429 || status === 403 ? 'limit-state refused' : 'limit-state' },
    h('h4', null, refusal(status, headers) ?? 'Your limits'),
    h(
      'dl',
      null,
      tile('X-RateLimit-Limit', limit, 'in force'),
      tile('X-RateLimit-Remaining', headers['x-ratelimit-remaining'], 'left'),
      tile('X-RateLimit-Reset', reset, reset === undefined ? '' : `at ${clock(Number(reset))}`),
      tile('Retry-After', retry, 'seconds to wait'),
    ),
    h('p', null, headerWindows(headers).map(windowText).join(' · ')),
  );
}

export function refusal(status: number, { 'retry-after': retry }: Headers): string | null {
  if (status === 429) return `Over the limit: wait ${retry ?? 'some'} seconds`;
  if (status === 403 && retry !== undefined) return `Banned for a while: wait ${retry} seconds`;
  return null;
}

function windowText({ name, limit, remaining }: HeaderWindow): string {
  return `${remaining.toLocaleString('en')}${limit === null ? '' : ` of ${limit.toLocaleString('en')}`} left per ${name}`;
}

/** Unix seconds in local time. */
function clock(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString('en-GB');
}

export interface HeaderWindow {
  readonly name: string;
  readonly limit: number | null;
  readonly remaining: number;
  readonly seconds: number | null;
}

/** `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers. */
export function headerWindows(headers: Headers): readonly HeaderWindow[] {
  const policies = new Map(
    items(headers['ratelimit-policy']).map(({ name, numbers }) => [name, numbers.q]),
  );
  return items(headers.ratelimit).flatMap(({ name, numbers: { r, t } }) =>
    r === undefined
      ? []
      : [{ name, limit: policies.get(name) ?? null, remaining: r, seconds: t ?? null }],
  );
}

interface Item {
  readonly name: string;
  readonly numbers: Readonly<Record<string, number>>;
}

/**
 * A list of strings with integer parameters (RFC 9651): `"minute";r=59;t=60, "day";r=999;t=86400`.
 */
function items(text = ''): Item[] {
  return [...text.matchAll(/"([^"]*)"((?:;\s*\w+=[^;,]*)*)/g)].map(([, name, parameters]) => ({
    name: name!,
    numbers: Object.fromEntries(
      [...parameters!.matchAll(/(\w+)=(\d+)/g)].map(([, parameter, value]) => [
        parameter,
        Number(value),
      ]),
    ),
  }));
}
