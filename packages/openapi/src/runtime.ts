import type { Compiled } from './compiled.ts';
import { toJson } from './exact-json.ts';
import { NONE } from './faults.ts';
import { NoFindings } from './findings.ts';
import { type Description, Operations, type RequestChecks } from './operations.ts';
import type { CheckResponse } from './responses.ts';
import { NOT_FOUND, Router } from './router.ts';
import { Schemas } from './schema/schemas.ts';
import { behind } from './servers.ts';
import { similarPathsOf } from './similar-paths.ts';
import { inPauses, Slices } from './slices.ts';
import { outlineOf, readTemplate } from './template.ts';
import type { Contract, Exempted, Operation, Side } from './types.ts';

type Make<T> = () => { readonly made: T; readonly steps: () => Generator<void, void, void> };

/** Cheap: everything is created on first use. */
export function createContract<Fields, Shared>(compiled: Compiled<Fields, Shared>): Contract<Fields, Shared> {
  const { shared, document, definitions, operations: described, ...rest } = compiled;
  const { prefixes, exempted } = rest;
  const noFindings = new NoFindings();
  const schemas = new Schemas(document, noFindings, definitions);
  const reader = new Operations(document, schemas, noFindings);
  const slices = new Slices();
  const all = described.map((description) => createOperation(description, reader, schemas, slices));
  const operations = Object.freeze(all.map(({ operation }) => operation));
  const router = routerOf(operations, exempted);
  return {
    ...shared,
    ...rest,
    operations,
    document: document.root,
    get json() {
      return toJson(document.root, 2);
    },
    match(method: string, path: string) {
      const own = behind(prefixes, path);
      return own === null ? NOT_FOUND : router.match(method, own);
    },
    similar: similarPathsOf(
      operations.map(({ path }) => path),
      prefixes,
    ),
    prepare: (signal: AbortSignal) =>
      inPauses(
        all.values().flatMap(({ requests }) => requests.steps()),
        signal,
      ),
  };
}

/**
 * A path whose operations are all omitted stays without methods, so that its requests do not match another template or
 * a mount.
 */
function routerOf<T extends Operation>(operations: readonly T[], exempted: readonly Exempted[]): Router<T> {
  const router = new Router<T>();
  const all = [
    ...operations.map((operation) => ({ path: operation.path, methods: [[operation.method, operation] as const] })),
    ...exempted.map(({ path }) => ({ path, methods: [] })),
  ];
  const templates = all.flatMap(({ path, methods }) => {
    const segments = readTemplate(path);
    return segments ? [{ segments, methods }] : [];
  });
  for (const same of Map.groupBy(templates, ({ segments }) => outlineOf(segments)).values()) {
    router.add(same[0]!.segments, new Map(same.flatMap(({ methods }) => methods)));
  }
  return router;
}

const UNCHECKED: RequestChecks = { checkParameters: () => NONE, body: null };
const ANY_ANSWER: CheckResponse = () => NONE;

function createOperation<Fields>(
  description: Description & Fields,
  reader: Operations,
  schemas: Schemas,
  slices: Slices,
) {
  const passes = description.exempt === 'pass';
  const requests = new Part(
    () => schemas.gather(() => (passes ? UNCHECKED : reader.requestChecks(description))),
    passes ? undefined : () => reader.prepareRequestChecks(description),
  );
  const responses = new Part(() => schemas.gather(() => (passes ? ANY_ANSWER : reader.responseCheck(description))));
  const operation: Operation & Fields = Object.freeze({
    ...description,
    get body() {
      return requests.made.body;
    },
    checkParameters: (...call: Parameters<Operation['checkParameters']>) => requests.made.checkParameters(...call),
    checkResponse: (...call: Parameters<Operation['checkResponse']>) => responses.made(...call),
    ready: (side: Side) => (side === 'request' ? requests : responses).ready(slices),
  });
  return { operation, requests };
}

class Part<T> {
  readonly #make: Make<T>;
  readonly #before: (() => Generator<void, void, void>) | undefined;
  #own: ReturnType<Make<T>> | null = null;
  #complete = false;
  #completing: Promise<void> | null = null;

  constructor(make: Make<T>, before?: () => Generator<void, void, void>) {
    this.#make = make;
    this.#before = before;
  }

  get made(): T {
    this.#own ??= this.#make();
    return this.#own.made;
  }

  *steps(): Generator<void, void, void> {
    if (this.#complete) return;
    if (this.#own === null && this.#before) yield* this.#before();
    this.#own ??= this.#make();
    yield;
    yield* this.#own.steps();
    this.#complete = true;
  }

  ready(slices: Slices): Promise<void> | null {
    if (this.#complete) return null;
    this.#completing ??= slices.run(this.steps());
    return this.#completing;
  }
}
