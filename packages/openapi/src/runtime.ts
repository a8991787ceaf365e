import {
  demandBytes,
  demandList,
  demandStatus,
  demandText,
} from './arguments.ts';
import type { Compiled } from './compiled.ts';
import { toJson } from './exact-json.ts';
import { type Fault, NONE } from './faults.ts';
import type { MediaSteps } from './media/content.ts';
import {
  type Description,
  prepareRequestChecks,
  type RequestChecks,
  requestChecks,
  responseChecks,
} from './operations.ts';
import type { ParameterValues } from './parameters/checker.ts';
import { marked, unmarked } from './path.ts';
import { ANY_RESPONSE, type ResponseChecks } from './responses.ts';
import { NOT_FOUND, Router } from './router.ts';
import { createSchemas, type Schemas } from './schema/schemas.ts';
import { behind } from './servers.ts';
import { similarPathsOf } from './similar-paths.ts';
import { atOnce, inPauses, Slices, type Steps } from './slices.ts';
import { parseTemplate } from './template.ts';
import type {
  BodyRule,
  Contract,
  Exempted,
  Operation,
  Side,
  TargetMatch,
  TargetPaths,
} from './types.ts';
import { createValidators } from './validators.ts';

type Make<T> = () => { readonly made: T; readonly steps: () => Steps };

/**
 * In steps, because a large document has thousands of operations. Their checks are created on first
 * use.
 */
export function* createContract<Fields, Shared>(
  compiled: Compiled<Fields, Shared>,
): Steps<Contract<Fields, Shared>> {
  const {
    shared,
    document,
    definitions,
    operations: described,
    ...rest
  } = compiled;
  const { prefixes, exempted } = rest;
  const schemas = createSchemas(document, definitions);
  const slices = new Slices();
  const operations: (CheckedOperation & Fields & Description)[] = [];
  for (const description of described) {
    const operation = Object.assign(
      new CheckedOperation(description, schemas, slices),
      description,
    );
    Object.freeze(operation);
    operations.push(operation);
    yield;
  }
  Object.freeze(operations);
  const router = yield* routerOf<Operation & Fields>(operations, exempted);
  const match = (method: string, path: string, shown = path) => {
    demandText(method, 'the method');
    demandText(path, 'the path');
    const own = behind(prefixes, path);
    if (own === null) return NOT_FOUND;
    if (shown === path) return router.match(method, own);
    return router.match(method, own, shown.slice(-own.length));
  };
  /**
   * Some backends decode a path before they choose by it, others choose first: both must find the
   * same, or the second nothing.
   */
  const matchTarget = (
    method: string,
    { path, written }: TargetPaths,
  ): TargetMatch<Operation & Fields> => {
    if (written === path) return match(method, path);
    const found = match(method, path, marked(written));
    if (!('parameters' in found)) return found;
    const { operation } = found;
    const parameters = found.parameters.map(unmarked);
    const other = match(method, written);
    const isSame =
      'parameters' in other
        ? other.operation === operation &&
          other.parameters.every((value, i) => value === parameters[i])
        : other.allow === null;
    return { operation, parameters: isSame ? parameters : null };
  };
  return {
    ...shared,
    ...rest,
    operations,
    document: document.root,
    get json() {
      return toJson(document.root, 2);
    },
    match,
    matchTarget,
    ...createValidators(matchTarget),
    similar: similarPathsOf(
      operations.map(({ path }) => path),
      prefixes,
    ),
    prepare: (signal: AbortSignal) =>
      inPauses(
        operations.values().flatMap((operation) => operation.steps()),
        signal,
      ),
  };
}

/** Requests to omitted operations must not match another template. */
function* routerOf<T extends Operation>(
  operations: readonly T[],
  exempted: readonly Exempted[],
): Steps<Router<T>> {
  const router = new Router<T>();
  const omitted = exempted.filter(({ treatment }) => treatment === 'omit');
  for (const one of [...operations, ...omitted]) {
    const segments = parseTemplate(one.path);
    if (typeof segments === 'string') continue;
    router.add(segments, one.method, 'treatment' in one ? null : one);
    yield;
  }
  return router;
}

const UNCHECKED: RequestChecks = { checkParameters: () => NONE, body: null };

/** A class, so that operations share their methods and have one hidden class. */
class CheckedOperation {
  readonly #slices: Slices;
  readonly #requests: Part<RequestChecks>;
  readonly #responses: Part<ResponseChecks>;

  constructor(description: Description, schemas: Schemas, slices: Slices) {
    const passes = description.exempt === 'pass';
    this.#slices = slices;
    this.#requests = new Part(
      () =>
        schemas.gather(() =>
          passes ? UNCHECKED : requestChecks(schemas, description),
        ),
      passes
        ? undefined
        : () => prepareRequestChecks(schemas.document, description),
    );
    this.#responses = new Part(() =>
      schemas.gather(() =>
        passes ? ANY_RESPONSE : responseChecks(schemas, description),
      ),
    );
  }

  get body(): BodyRule | null {
    return this.#requests.made.body;
  }

  checkParameters(
    parameters: readonly string[],
    query: string,
    headers: readonly string[],
    values?: ParameterValues,
  ): readonly Fault[] {
    demandList(parameters, 'the parameters');
    demandText(query, 'the query');
    demandList(headers, 'the headers');
    return this.#requests.made.checkParameters(
      parameters,
      query,
      headers,
      values,
    );
  }

  checkResponse(
    ...call: Parameters<Operation['checkResponse']>
  ): readonly Fault[] {
    return atOnce(this.responseSteps(...call));
  }

  responseSteps(...call: Parameters<Operation['responseSteps']>): MediaSteps {
    const [status, contentType, body] = call;
    demandStatus(status);
    if (contentType !== undefined) demandText(contentType, 'the Content-Type');
    demandBytes(body);
    return this.#responses.made.check(...call);
  }

  checkResponseHeaders(
    ...call: Parameters<Operation['checkResponseHeaders']>
  ): readonly Fault[] {
    const [status, headers] = call;
    demandStatus(status);
    demandList(headers, 'the headers');
    return this.#responses.made.checkHeaders(...call);
  }

  ready(side: Side): Promise<void> | null {
    return (side === 'request' ? this.#requests : this.#responses).ready(
      this.#slices,
    );
  }

  /** Compiles all request checks. */
  steps(): Steps {
    return this.#requests.steps();
  }
}

class Part<T> {
  readonly #make: Make<T>;
  readonly #before: (() => Steps) | undefined;
  #own: ReturnType<Make<T>> | null = null;
  #complete = false;
  #completing: Promise<void> | null = null;

  constructor(make: Make<T>, before?: () => Steps) {
    this.#make = make;
    this.#before = before;
  }

  get made(): T {
    this.#own ??= this.#make();
    return this.#own.made;
  }

  *steps(): Steps {
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
