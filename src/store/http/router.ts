import { invalidRequest, StoreError } from '../errors.ts';
import type { Answer, Method, Route } from './routes.ts';

export interface Match {
  readonly method: Method;
  readonly params: Readonly<Record<string, string>>;
  readonly answer: Answer;
}

export type Router = (method: string, path: string) => Match;

/**
 * Finds the route for a method and a path without query. GET also serves HEAD (RFC 9110, section 9.3.2).
 * @throws StoreError `not_found`, or `method_not_allowed` with the `Allow` header of RFC 9110, section 10.2.1.
 */
export function createRouter(routes: readonly Route[]): Router {
  const table = routes.map((route) => ({ ...route, pattern: toPattern(route.path) }));
  return (asked, path) => {
    for (const { pattern, methods } of table) {
      const found = pattern.exec(path);
      if (found === null) continue;
      const method = (asked === 'HEAD' ? 'GET' : asked) as Method;
      const answer = Object.hasOwn(methods, method) ? methods[method] : undefined;
      if (answer === undefined) throw notAllowed(asked, Object.keys(methods));
      return { method, answer, params: decode({ ...found.groups }) };
    }
    throw new StoreError('not_found', 'There is nothing at this path.');
  };
}

function notAllowed(asked: string, methods: readonly string[]): StoreError {
  const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  return new StoreError('method_not_allowed', `This path does not answer ${asked}, only ${allow}.`, { Allow: allow });
}

function decode(params: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodeSegment(name, value)]));
}

function decodeSegment(name: string, segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalidRequest([{ in: 'path', pointer: `/${name}`, message: 'is not well percent-encoded' }]);
  }
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
}
