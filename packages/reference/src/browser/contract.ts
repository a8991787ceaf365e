import type { ImmutableMap, System } from './swagger-ui.ts';

/** `5/minute,10/10s:sliding`, or a list. */
export type WindowNotation =
  | string
  | readonly { readonly limit: number; readonly per: string; readonly kind?: string }[];

export interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly deprecated?: boolean;
  readonly 'x-deprecated-at'?: string;
  readonly 'x-sunset'?: string;
  readonly 'x-successor'?: string;
  readonly 'x-stability-level'?: 'stable' | 'beta' | 'experimental';
  readonly 'x-ratelimit'?: WindowNotation;
  readonly 'x-ratelimit-cost'?: number;
  readonly 'x-try-it'?: boolean;
  readonly 'x-storegate-unchecked-body'?: boolean;
  readonly 'x-max-body-bytes'?: number;
  readonly 'x-required-scopes'?: readonly string[];
  readonly 'x-role'?: string;
}

export interface Contract {
  readonly info: { readonly description?: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly tags?: readonly {
    readonly name: string;
    readonly description?: string;
    readonly 'x-ratelimit'?: WindowNotation;
  }[];
  readonly 'x-tagGroups'?: unknown;
}

const read = new WeakMap<ImmutableMap, Contract>();

export function contractOf({ specSelectors }: System): Contract {
  const json = specSelectors.specJson();
  const contract = read.get(json) ?? (json.toJS() as Contract);
  read.set(json, contract);
  return contract;
}

export function operationAt(system: System, path: string, method: string): Operation | undefined {
  return contractOf(system).paths[path]?.[method];
}

export interface Located {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export function operationById({ paths }: Contract, operationId: string): Located | null {
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(item)) {
      if (operation?.operationId === operationId) return { method, path, operation };
    }
  }
  return null;
}
