/** Swagger UI 5 ships no types: https://github.com/swagger-api/swagger-ui/tree/master/docs */

export type Rendered = object | string | null;
export type Props = Readonly<Record<string, unknown>>;
export type Component = (props: Props) => Rendered;

/** A part of Immutable.js's Map. */
export interface ImmutableMap {
  get(name: string): unknown;
  getIn(path: readonly string[]): unknown;
  deleteIn(path: readonly string[]): ImmutableMap;
  setIn(path: readonly string[], value: unknown): ImmutableMap;
  filter(keep: (value: unknown, name: string) => boolean): ImmutableMap;
  keySeq(): { toArray(): string[] };
  toJS(): unknown;
}

/** `connected` passes the system and its state as properties. */
export type GetComponent = (name: string, connected?: boolean) => Component;

interface React {
  readonly Fragment: unknown;
  createElement(type: unknown, props?: object | null, ...children: unknown[]): Rendered;
  useEffect(effect: () => void): void;
}

export interface System {
  readonly React: React;
  readonly getComponent: GetComponent;
  readonly specSelectors: {
    loadingStatus(): string | undefined;
    specJson(): ImmutableMap;
    taggedOperations(): ImmutableMap;
  };
  readonly layoutActions: { show(thing: readonly string[], shown: boolean): void };
}

type Selector = (state: unknown, ...values: string[]) => unknown;
type Action = (...values: unknown[]) => unknown;

export interface Plugin {
  readonly components?: Readonly<Record<string, Component>>;
  readonly wrapComponents?: Readonly<Record<string, (original: Component) => Component>>;
  readonly statePlugins?: Readonly<Record<string, StatePlugin>>;
  /** Called with the system that has all plugins. */
  readonly afterLoad?: (system: System) => void;
}

interface StatePlugin {
  readonly wrapSelectors?: Readonly<Record<string, (original: Selector) => Selector>>;
  readonly wrapActions?: Readonly<Record<string, (original: Action) => Action>>;
}

/**
 * Only plugins get the system, and React with it. The page draws one contract, so there is one
 * system.
 */
export let system: System;
export let h: React['createElement'];
export const connectSystem: Plugin = {
  afterLoad(loaded) {
    system = loaded;
    h = loaded.React.createElement;
  },
};

/** Descriptions may be Markdown. */
export const markdown = (source: unknown): Rendered =>
  h(system.getComponent('Markdown', true), { source });

export interface OutgoingRequest {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly loadSpec?: boolean;
}

export interface IncomingResponse {
  readonly status: number;
  headers: CutHeaders;
}

export interface SwaggerUiSettings {
  readonly url: string;
  /** An element. Tests compile these types without the DOM types. */
  readonly domNode: object;
  readonly layout: string;
  readonly plugins: readonly Plugin[];
  readonly validatorUrl: null;
  readonly defaultModelsExpandDepth: number;
  readonly defaultModelExpandDepth: number;
  readonly displayRequestDuration: boolean;
  readonly requestInterceptor: (request: OutgoingRequest) => OutgoingRequest;
  readonly responseInterceptor: (response: IncomingResponse) => IncomingResponse;
  readonly onComplete: () => void;
}

export interface SwaggerUi {
  getSystem(): System;
}

/** Names in lower case, values as received. */
export type Headers = Readonly<Record<string, string>>;

/** Swagger UI splits every value at `, `, dates as well as lists. */
export type CutHeaders = Readonly<Record<string, string | readonly string[]>>;

export function asReceived(headers: CutHeaders): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : value.join(', '),
    ]),
  );
}
