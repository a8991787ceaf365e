import type { FieldLines } from '@storegate/http1';
import type { Exchange } from '../exchange.ts';

export type Cors = ReturnType<typeof createCors>;

interface CorsSettings {
  readonly origins: readonly string[];
  /** Milliseconds. */
  readonly maxAge: number;
}

/** Without origins the backend sends the CORS fields and responds to preflights. */
export const isOfBackend = ({
  origins,
}: Pick<CorsSettings, 'origins'>): boolean => origins.length === 0;

/** Fetch standard. Pages set the key header themselves, so credentials mode is never allowed. */
export function createCors({ origins, maxAge }: CorsSettings) {
  const any = origins.includes('*');
  const allowed = new Set(origins);

  function add(lines: FieldLines, exchange: Exchange): void {
    const { origin } = exchange.head;
    if (!any && allowed.size > 0) lines.add('Vary', 'Origin');
    if (origin === undefined || !(any || allowed.has(origin))) return;
    lines.add('Access-Control-Allow-Origin', any ? '*' : origin);
    lines.add('Access-Control-Expose-Headers', '*');
  }

  function preflight(exchange: Exchange, methods: readonly string[]): string[] {
    const requested = exchange.head.preflightHeaders;
    return [
      'Access-Control-Allow-Methods',
      methods.join(', '),
      'Access-Control-Allow-Headers',
      requested !== undefined && isHeaderList(requested)
        ? requested
        : 'X-API-Key, Authorization, Content-Type',
      'Access-Control-Max-Age',
      `${Math.floor(maxAge / 1000)}`,
    ];
  }

  return {
    add,
    preflight,
    handles: isOfBackend({ origins }) ? () => false : isPreflight,
  };
}

export function isPreflight(exchange: Exchange): boolean {
  const { origin, preflightMethod } = exchange.head;
  return (
    exchange.call.method === 'OPTIONS' &&
    origin !== undefined &&
    preflightMethod !== undefined
  );
}

/** RFC 9110 section 5.1: only field names and commas are returned. */
function isHeaderList(text: string): boolean {
  return (
    text.length <= 1024 &&
    /^[\w!#$%&'*+.^`|~-]+(?:\s*,\s*[\w!#$%&'*+.^`|~-]+)*$/.test(text)
  );
}
