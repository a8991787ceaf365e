import { demand, demandBytes, demandText } from './arguments.ts';
import { Bag } from './bag.ts';
import {
  bodyFault,
  type Fault,
  type Limit,
  NONE,
  type Rule,
  wrongType,
} from './faults.ts';
import { valuesOf } from './parameters/checker.ts';
import { atOnce, type Steps, soon } from './slices.ts';
import { AMBIGUOUS, type TargetFlaw, targetOf } from './target.ts';
import type {
  MessageInput,
  Operation,
  RequestResult,
  ResponseResult,
  TargetMatch,
  TargetPaths,
  Validators,
} from './types.ts';

type Match<Op> = (method: string, target: TargetPaths) => TargetMatch<Op>;

export function createValidators<Op extends Operation>(
  match: Match<Op>,
): Validators<Op> {
  function* requestSteps(input: Input): Steps<RequestResult<Op>> {
    const { method, target, headers, body } = input;
    if ('message' in target) return refusedTarget(target);
    const found = match(method, target);
    if (!('parameters' in found)) return unrouted(found.allow);
    const { operation, parameters } = found;
    if (parameters === null) return refusedTarget({ in: 'path', ...AMBIGUOUS });
    if (operation.exempt === 'pass')
      return {
        status: 200,
        faults: NONE,
        operation,
        allow: NONE,
        values: null,
      };
    const values = {
      path: new Bag(),
      query: new Bag(),
      header: new Bag(),
      cookie: new Bag(),
    };
    const faults = operation.checkParameters(
      parameters,
      target.query,
      headers,
      values,
    );
    const checked = yield* bodySteps(operation, method, headers, body);
    const all = [...faults, ...checked.faults];
    return {
      status: all.length === 0 || operation.reportOnly ? 200 : checked.status,
      faults: all,
      operation,
      allow: NONE,
      values: all.length === 0 ? { ...values, body: checked.value } : null,
    };
  }

  function* responseSteps(
    status: number,
    input: Input,
  ): Steps<ResponseResult<Op>> {
    const { method, headers, body } = input;
    const operation = operationOf(input);
    const result = { operation, body: undefined };
    if (operation === null) return { ...result, faults: [UNKNOWN] };
    if (method === 'HEAD' || operation.exempt === 'pass')
      return { ...result, faults: NONE };
    const ofHeaders = operation.checkResponseHeaders(status, headers);
    if (isEncoded(headers))
      return { ...result, faults: [...ofHeaders, ENCODED] };
    let value: unknown;
    const ofBody = yield* operation.responseSteps(
      status,
      headerIn(headers, 'content-type'),
      body ?? EMPTY,
      (kept) => {
        value = kept;
      },
    );
    const faults = [...ofHeaders, ...ofBody];
    return { ...result, faults, body: faults.length === 0 ? value : undefined };
  }

  function operationOf({ method, target }: Input): Op | null {
    return 'message' in target ? null : match(method, target).operation;
  }

  return {
    validateRequest: (request) => atOnce(requestSteps(readInput(request))),
    async validateRequestAsync(request) {
      const input = readInput(request);
      await operationOf(input)?.ready('request');
      return await soon(requestSteps(input));
    },
    validateResponse: (response) =>
      atOnce(responseSteps(response.status, readInput(response))),
    async validateResponseAsync(response) {
      const input = readInput(response);
      await operationOf(input)?.ready('response');
      return await soon(responseSteps(response.status, input));
    },
  };
}

const EMPTY = new Uint8Array();

interface Checked {
  readonly status: 200 | 400 | 413 | 415;
  readonly faults: readonly Fault[];
  readonly value?: unknown;
}

/** GET also serves HEAD, but a described body is for GET alone. */
function* bodySteps(
  operation: Operation,
  method: string,
  headers: readonly string[],
  body: Uint8Array | null,
): Steps<Checked> {
  const rule = method === 'HEAD' ? null : operation.body;
  const isAnnounced =
    headerIn(headers, 'transfer-encoding') !== undefined ||
    Number(headerIn(headers, 'content-length') ?? 0) > 0;
  demand(
    !rule || body !== null || !isAnnounced,
    'the request has a body by its headers, but body is missing',
  );
  if (body === null || body.length === 0)
    return rule?.required
      ? bad(400, 'request body is required', 'required')
      : { status: 400, faults: NONE };
  if (!rule) return bad(400, 'request body is not allowed', 'unexpected');
  if (isEncoded(headers)) return { status: 415, faults: [ENCODED] };
  const media = rule.media(headerIn(headers, 'content-type'));
  if (!media) return { status: 415, faults: [wrongType(rule.accepted)] };
  const { maxBodyBytes } = operation;
  if (maxBodyBytes !== null && body.length > maxBodyBytes)
    return bad(
      413,
      `has more than ${maxBodyBytes} bytes`,
      'size',
      maxBodyBytes,
    );
  let value: unknown;
  const faults = yield* media.steps(body, (kept) => {
    value = kept;
  });
  return { status: 400, faults, value };
}

const bad = (
  status: 400 | 413,
  message: string,
  rule: Rule,
  limit?: Limit,
): Checked => ({
  status,
  faults: [bodyFault(message, rule, limit)],
});

const ENCODED = bodyFault(
  'has a Content-Encoding, which cannot be checked',
  'mediaType',
);

const isEncoded = (headers: readonly string[]): boolean => {
  const encoding = headerIn(headers, 'content-encoding')?.trim().toLowerCase();
  return encoding !== undefined && encoding !== 'identity';
};

const refused = (
  status: 400 | 404 | 405,
  problem: Fault,
  allow: readonly string[] = NONE,
) =>
  ({
    status,
    faults: [problem],
    operation: null,
    allow,
    values: null,
  }) as const;

const refusedTarget = ({ in: place, message }: TargetFlaw) =>
  refused(400, { ...bodyFault(message, 'encoding'), in: place });

const unknown = (message: string): Fault => ({
  ...bodyFault(message, 'unknown'),
  in: 'path',
});

const UNKNOWN = unknown('has no operation for the request');

function unrouted(allow: readonly string[] | null) {
  if (allow === null) return refused(404, unknown('is not described'));
  return refused(
    405,
    unknown(`has only the methods ${allow.join(', ')}`),
    allow,
  );
}

/** Several values become one, which no type and no encoding matches. */
function headerIn(
  headers: readonly string[],
  name: string,
): string | undefined {
  const values = valuesOf(headers, name);
  return values.length === 0 ? undefined : values.join(', ');
}

type Input = ReturnType<typeof readInput>;

function readInput(input: MessageInput) {
  demand(
    typeof input === 'object' && input !== null,
    'the argument must be an object',
  );
  const { method, url, headers, body } = input;
  demandText(method, 'method');
  return {
    method: method.toUpperCase(),
    target: targetOf(targetText(url)),
    headers: listOf(headers),
    body: bytesOf(body),
  };
}

/** A client does not send the fragment of a URL. */
function targetText(url: unknown): string {
  if (url instanceof URL) return url.pathname + url.search;
  demand(typeof url === 'string', 'url must be a string or a URL');
  return url;
}

function bytesOf(body: unknown): Uint8Array | null {
  if (body === undefined || body === null) return null;
  if (typeof body === 'string') return Buffer.from(body);
  demandBytes(body);
  return body;
}

const HEADERS =
  'headers must be an object, Headers, or a list of names and values';

function listOf(headers: unknown): readonly string[] {
  demand(typeof headers === 'object' && headers !== null, HEADERS);
  const list = Array.isArray(headers) ? headers : pairsIn(headers).flat();
  demand(
    list.length % 2 === 0 && list.every((entry) => typeof entry === 'string'),
    HEADERS,
  );
  return list;
}

function pairsIn(headers: object): unknown[][] {
  if (Symbol.iterator in headers) return [...(headers as Iterable<unknown[]>)];
  return Object.entries(headers).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return Array.isArray(value)
      ? value.map((one) => [name, one])
      : [[name, typeof value === 'number' ? String(value) : value]];
  });
}
