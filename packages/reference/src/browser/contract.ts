import { type ImmutableMap, system } from './swagger-ui.ts';

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

export function contractOf(): Contract {
  const json = system.specSelectors.specJson();
  const contract = read.get(json) ?? (json.toJS() as Contract);
  read.set(json, contract);
  return contract;
}

export function operationAt(path: unknown, method: unknown): Operation | undefined {
  return contractOf().paths[String(path)]?.[String(method)];
}
