import { canonicalPath } from '@storegate/openapi';
import { PAGE_PATHS, USAGE_PATH } from '../common/reserved-paths.ts';
import type { Api } from './config.ts';
import type { Contract, Operation } from './contract/contract.ts';
import { NO_CONTRACT } from './contract/place.ts';

/** A path that the gateway serves itself. A path ending in `/` is a prefix. */
interface OwnPath {
  readonly path: string;
  /** `false` leaves the path to the backend. */
  readonly setting: 'reference.enabled' | 'usage.enabled';
}

const PAGES = PAGE_PATHS.map(
  (path): OwnPath => ({ path, setting: 'reference.enabled' }),
);
const USAGE: OwnPath = { path: USAGE_PATH, setting: 'usage.enabled' };

/** For a configuration; `file` is that of the contract. */
interface OwnPathSettings {
  readonly file: string | null;
  readonly hasReference: boolean;
  readonly hasUsage: boolean;
}

/** Without a contract the gateway serves no pages. */
export function ownPaths({
  file,
  hasReference,
  hasUsage,
}: OwnPathSettings): readonly OwnPath[] {
  const pages = hasReference && file !== NO_CONTRACT ? PAGES : [];
  return hasUsage ? [...pages, USAGE] : pages;
}

type Described = Pick<Contract, 'prefixes' | 'exempted'> & {
  readonly operations: readonly Pick<Operation, 'path'>[];
};

/**
 * Where keys get their usage: at the root, and below the prefixes of the contract, because many
 * clients know no other path. There an operation that can have the path wins.
 */
export function usagePaths(contract: Described): readonly string[] {
  return takesUsagePath(contract)
    ? [USAGE_PATH]
    : [...new Set(['', ...contract.prefixes])].map(
        (prefix) => prefix + USAGE_PATH,
      );
}

/** Whether a request with this path, below the prefix, can be one for an operation. */
export function takesUsagePath({ operations, exempted }: Described): boolean {
  return [...operations, ...exempted].some(({ path }) => {
    const [head = '', ...rest] = path.split('{');
    if (rest.length === 0) return path === USAGE_PATH;
    const tail = path.slice(path.lastIndexOf('}') + 1);
    const isOneSegment = path.lastIndexOf('/') === 0;
    return (
      isOneSegment && USAGE_PATH.startsWith(head) && USAGE_PATH.endsWith(tail)
    );
  });
}

/** Sentences for operators: the operations with requests that the gateway serves itself. */
export function hiddenOperations(
  { contract: { file }, path: place, reference, usage }: Api,
  contract: Contract,
): string[] {
  const paths = ownPaths({
    file,
    // Pages are not below the paths of APIs.
    hasReference: reference.enabled && place === '/',
    hasUsage: usage.enabled,
  });
  return paths.flatMap(({ path, setting }) =>
    operationsAt(contract, path).map((operation) => {
      const own = path.endsWith('/') ? `paths below ${path}` : path;
      return `${nameOf(operation)}: the gateway serves ${own} itself; set ${setting}: false to forward these requests`;
    }),
  );
}

/** A sentence for operators: where an operation of the contract takes the path of the usage. */
export function displacedUsage({ usage }: Api, contract: Contract): string[] {
  const [prefix] = contract.prefixes;
  if (!usage.enabled || !prefix || !takesUsagePath(contract)) return [];
  return [
    `${prefix}${USAGE_PATH} belongs to an operation of the contract: keys get their usage at ${USAGE_PATH} only`,
  ];
}

const nameOf = ({ id, method, path }: Operation): string =>
  `${id} (${method} ${path})`;

/** Operations whose requests can have the path `own`, or begin with it if it ends in `/`. */
function operationsAt(contract: Contract, own: string): Operation[] {
  const isPrefix = own.endsWith('/');
  const head = (isPrefix ? own.slice(0, -1) : own).split('/');
  return contract.operations.filter((operation) =>
    contract.prefixes.some((prefix) => {
      const segments = `${prefix}${operation.path}`.split('/');
      const fits = isPrefix
        ? segments.length > head.length
        : segments.length === head.length;
      return (
        fits &&
        contract.match(operation.method, exampleOf(head, segments))
          .operation === operation
      );
    }),
  );
}

/** No operation has it as literal text. */
const ANY_VALUE = 'any-value-of-the-parameter';

/** A canonical path that begins with `head` and continues like the template. */
function exampleOf(
  head: readonly string[],
  segments: readonly string[],
): string {
  const rest = segments
    .slice(head.length)
    .map((segment) => segment.replace(/\{[^{}]*\}/g, ANY_VALUE));
  return canonicalPath([...head, ...rest].join('/'));
}
