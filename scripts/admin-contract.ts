import { readFileSync } from 'node:fs';
import { ADMIN_CONTRACT } from '@storegate/admin-api/files';
import { parse } from 'yaml';
import { nameIn, type Schema } from './schema.ts';

/** Of a request or a response. */
export interface Body {
  readonly $ref?: string;
  readonly required?: boolean;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

export interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly 'x-role'?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}

type Item = Readonly<Record<string, Operation>> & { readonly parameters?: readonly Parameter[] };

interface Contract {
  readonly paths: Readonly<Record<string, Item>>;
  readonly components: {
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Body>>;
  };
}

const { paths, components } = parse(readFileSync(ADMIN_CONTRACT, 'utf8')) as Contract;
export const { schemas, responses } = components;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** With the parameters of their paths. */
export const OPERATIONS = Object.entries(paths).flatMap(([path, { parameters = [], ...item }]) =>
  METHODS.filter((method) => method in item).map((method) => {
    const operation = item[method]!;
    const all = [...parameters, ...(operation.parameters ?? [])];
    const own = all.map((one) => (one.$ref ? components.parameters[nameIn(one.$ref)]! : one));
    return { ...operation, method: method.toUpperCase(), path, parameters: own };
  }),
);
