/**
 * The parts of an OpenAPI document that the page shows. The gateway has checked their types, and
 * nothing changes them.
 */
export interface ApiDocument {
  openapi: string;
  info: { description?: string };
  servers?: Server[];
  paths?: Record<string, PathItem>;
  tags?: Tag[];
  security?: Requirement[];
  components?: {
    schemas?: Record<string, SchemaNode>;
    securitySchemes?: Record<string, SecurityScheme>;
  };
  'x-tagGroups'?: unknown;
}

export interface Server {
  url: string;
  description?: string;
  variables?: Record<string, { default: string }>;
}

export interface Tag {
  name: string;
  description?: string;
  'x-ratelimit'?: WindowNotation;
}

type Requirement = Record<string, string[]>;

export interface SecurityScheme {
  $ref?: string;
  type: string;
  in?: string;
  name?: string;
  scheme?: string;
  description?: string;
}

export interface PathItem {
  $ref?: string;
  servers?: Server[];
  parameters?: Parameter[];
  [method: string]: unknown;
}

export interface Operation {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: string[];
  deprecated?: boolean;
  servers?: Server[];
  security?: Requirement[];
  parameters?: Parameter[];
  requestBody?: Body;
  responses?: Record<string, Response>;
  'x-deprecated-at'?: string;
  'x-sunset'?: string;
  'x-successor'?: string;
  'x-stability-level'?: 'stable' | 'beta' | 'experimental';
  'x-ratelimit'?: WindowNotation;
  'x-ratelimit-cost'?: number;
  'x-try-it'?: boolean;
  'x-storegate-unchecked-body'?: boolean;
  'x-max-body-bytes'?: number;
  'x-required-scopes'?: string[];
  'x-role'?: string;
}

/** A parameter; a header has neither name nor place. `content` has one media type. */
export interface Parameter extends Styled {
  name: string;
  in: string;
  $ref?: string;
  description?: string;
  required?: boolean;
  deprecated?: boolean;
  schema?: SchemaNode;
  content?: Content;
  example?: unknown;
  examples?: Examples;
}

export interface Styled {
  style?: string;
  explode?: boolean;
  allowReserved?: boolean;
}

export interface Body {
  $ref?: string;
  description?: string;
  required?: boolean;
  content?: Content;
}

export interface Response {
  $ref?: string;
  description?: string;
  headers?: Record<string, Parameter>;
  content?: Content;
}

/** `request` omits members that are read-only, `response` those that are write-only. */
export type Direction = 'request' | 'response';

export type Content = Record<string, Media>;

export interface Media {
  schema?: SchemaNode;
  itemSchema?: SchemaNode;
  example?: unknown;
  examples?: Examples;
  encoding?: Record<string, Styled & { contentType?: string }>;
}

export type Examples = Readonly<
  Record<string, { $ref?: string; summary?: string; value?: unknown }>
>;

export type SchemaNode = Schema | boolean;

type Schemas = Record<string, SchemaNode>;

export interface Schema {
  $ref?: string;
  title?: string;
  description?: string;
  type?: string | string[];
  nullable?: boolean;
  format?: string;
  enum?: unknown[];
  examples?: unknown[];
  properties?: Schemas;
  patternProperties?: Schemas;
  required?: string[];
  items?: SchemaNode;
  prefixItems?: SchemaNode[];
  additionalProperties?: SchemaNode;
  allOf?: SchemaNode[];
  oneOf?: SchemaNode[];
  anyOf?: SchemaNode[];
  discriminator?: {
    propertyName: string;
    mapping?: Record<string, string>;
  };
  [keyword: string]: unknown;
}

interface WindowEntry {
  readonly limit: number;
  readonly per: string;
  readonly kind?: string;
  readonly zone?: string;
  readonly enforce?: boolean;
}

/** `5/minute,10/10s:sliding,9/month:calendar:Europe/Berlin:15`, or a list. */
export type WindowNotation = string | WindowEntry[];
