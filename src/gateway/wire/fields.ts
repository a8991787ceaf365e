import { listed, oneByte } from '@storegate/http1';

/** Headers about one connection only (RFC 9110 section 7.6.1). The gateway forwards them in neither direction. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'http2-settings',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Headers a caller may not send to the store: the gateway alone says which key, which caller, and from where. */
const NOT_FORWARDED = new Set([
  ...HOP_BY_HOP,
  'host',
  'expect',
  'content-length',
  'x-api-key',
  'authorization',
  'x-request-id',
  'forwarded',
  'x-real-ip',
  // Other names for a caller, a method or a target. Only the request line counts: the contract has checked it.
  'true-client-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'forwarded-for',
  'front-end-https',
  'x-accel-redirect',
  'x-custom-ip-authorization',
  'x-forwarded',
  'x-forwarded-url',
  'x-host',
  'x-original-forwarded-for',
  'x-original-host',
  'x-original-method',
  'x-original-uri',
  'x-original-url',
  'x-proxy-url',
  'x-proxyuser-ip',
  'x-rewrite-uri',
  'x-rewrite-url',
]);

/** Headers the store may not send to a caller: they are the gateway's own. */
const NOT_RETURNED = new Set([...HOP_BY_HOP, 'ratelimit', 'ratelimit-policy', 'x-request-id']);

/**
 * What an answer to a key says where the store says nothing about caches: a shared cache would give one caller's answer to
 * another (RFC 9111 section 3.5 protects only Authorization).
 */
export const NOT_SHARED = { 'cache-control': 'private', vary: 'X-API-Key, Authorization' } as const;

/** The name of a caller's header, looked up once for each way to spell it. */
export interface FieldName {
  /** In lower case. */
  readonly name: string;
  /** Whether the header may reach the store. */
  readonly forwarded: boolean;
}

/** How many spellings are remembered, and of what length. The other side chooses them, so memory needs a bound. */
const MOST_SPELLINGS = 2_000;
const LONGEST_SPELLING = 64;

/** Remembers what is known of names by the way they are spelt. */
class Spellings<Known> {
  readonly #known = new Map<string, Known>();
  readonly #learn: (name: string) => Known;

  /** `learn` is given a name in lower case. */
  constructor(learn: (name: string) => Known) {
    this.#learn = learn;
  }

  of(spelt: string): Known {
    const known = this.#known.get(spelt);
    if (known !== undefined) return known;
    // A copy: a part of a head would keep the whole head in memory.
    const copy = oneByte(spelt);
    const learnt = this.#learn(copy.toLowerCase());
    if (copy.length > LONGEST_SPELLING) return learnt;
    if (this.#known.size >= MOST_SPELLINGS) this.#known.clear();
    this.#known.set(copy, learnt);
    return learnt;
  }
}

/** What is known of the names of callers' headers. */
export class FieldNames {
  readonly #names: Spellings<FieldName>;

  /**
   * `strip`: names in lower case that stop here beside those that always do; a `*` at the end stands for any ending. `own`: names that the
   * gateway writes itself.
   */
  constructor(strip: readonly string[], own: readonly string[] = []) {
    const stripped: ReadonlySet<string> = new Set([...NOT_FORWARDED, ...strip, ...own]);
    const stars = strip.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
    const prefixes = ['x-storegate-', 'x-forwarded-', ...stars];
    this.#names = new Spellings((name) => {
      // Many servers read `_` as `-` (RFC 3875 section 4.1.18), so both spellings stop here.
      const meant = name.replaceAll('_', '-');
      return { name, forwarded: !stripped.has(meant) && !prefixes.some((prefix) => meant.startsWith(prefix)) };
    });
  }

  of(spelt: string): FieldName {
    return this.#names.of(spelt);
  }
}

/** The name of a header of the store. */
export interface ReturnedName {
  /** In lower case. */
  readonly name: string;
  /** Whether the header may reach the caller. */
  readonly returned: boolean;
}

/** What is known of the names of the store's headers. */
export class ReturnedNames {
  readonly #names = new Spellings<ReturnedName>((name) => ({ name, returned: isReturned(name) }));

  of(spelt: string): ReturnedName {
    return this.#names.of(spelt);
  }
}

/** `name` is in lower case. */
function isReturned(name: string): boolean {
  return !NOT_RETURNED.has(name) && !name.startsWith('x-ratelimit-') && !name.startsWith('access-control-');
}

/** The header names that Connection lists; the gateway does not forward them (RFC 9110 section 7.6.1). */
export function optionsOf(connection: string): string[] {
  return listed(connection.toLowerCase()).filter((option) => option !== '');
}
