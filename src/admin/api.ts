import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import * as v8 from 'node:v8';
import { Worker } from 'node:worker_threads';
import {
  IDEMPOTENCY_HEADER,
  includesRole,
  type OperationId,
  REASON_HEADER,
  ROUTES,
  readQuery,
} from '@storegate/admin-api';
import { ADMIN_CONTRACT } from '@storegate/admin-api/files';
import {
  atOnce,
  type Contract,
  createContract,
  deserialize,
  type Fault,
  inTurns,
  loadContract,
  type Operation,
} from '@storegate/openapi';
import { Outage } from '../common/errors/outage.ts';
import { holdsSecret } from '../common/secret-mask.ts';
import { ConfigError } from '../config/problems/problems.ts';
import { KeyError } from '../records/keys/draft.ts';
import { GIVE_THE_ID } from '../records/keys/secret.ts';
import { KeyConflict } from '../records/keys/store.ts';
import { IdempotencyConflict } from '../records/operators/audit-log.ts';
import { holdsToken } from '../records/operators/tokens.ts';
import { CountersError, UnsavedError } from '../state/state.ts';
import { type AdminCode, AdminError, faultOf } from './admin-error.ts';
import {
  type AdminResponse,
  type Call,
  IdempotentCall,
  Streamed,
  type Task,
} from './call.ts';
import { createChanges } from './change.ts';
import type { AdminContext } from './context.ts';
import { createOperations } from './operations.ts';
import { reasonIn } from './reason.ts';

export type AdminApi = ReturnType<typeof createAdminApi>;

/** Local commands call the same operations. Types of the contract require a handler for each. */
export function createAdminApi(
  context: AdminContext,
  contract: Contract = adminContract(),
) {
  const { change, close } = createChanges(context.auditLog);
  const operations = createOperations(context, change);
  return {
    contract,
    /** Throws AdminError; anything else thrown is a bug. */
    async call(call: Call): Promise<AdminResponse> {
      const { operation, parameters } = find(contract, call);
      const id = operation.id as OperationId;
      const values = decoded(parameters);
      refuseSecrets(values, call.query);
      check(operation, parameters, call);
      refuseLowRole(call, id);
      try {
        const task = taskOf(operation, values, call, context.clock());
        const body = await operations[id](task as never);
        if (body instanceof Streamed)
          return { status: 200, body: null, ...body.parts };
        const headers = task.idempotent?.isReplayed ? REPLAYED : {};
        return { status: ROUTES[id][3], body, headers };
      } catch (error) {
        throw adminErrorOf(error, call, context);
      }
    },
    /** Writes pending retractions to the audit log. */
    close,
  };
}

const REPLAYED = { 'Idempotency-Replayed': 'true' };

let read: Contract | null = null;
let preparing: Promise<void> | null = null;

/** Compiled when the package is built: compiling takes a third of a start. */
const COMPILED = new URL('./admin-contract', import.meta.url);

/** Read once, when first needed: for a process that serves no requests, or after `prepareAdminContract`. */
export function adminContract(): Contract {
  read ??= existsSync(COMPILED)
    ? atOnce(createContract(atOnce(deserialize(readCompiled()))))
    : loadContract(ADMIN_CONTRACT);
  return read;
}

/** `adminContract` without a stop of the event loop: where it is not compiled, a thread does it. */
export async function prepareAdminContract(): Promise<void> {
  if (read !== null) return;
  preparing ??= prepare().finally(() => {
    preparing = null;
  });
  await preparing;
}

async function prepare() {
  const compiled = existsSync(COMPILED)
    ? readCompiled()
    : await compiledInThread();
  const contract = await inTurns(deserialize(compiled));
  read ??= await inTurns(createContract(contract));
}

const readCompiled = () => v8.deserialize(readFileSync(COMPILED));

async function compiledInThread() {
  const compiler = new URL('./contract-compiler.ts', import.meta.url);
  const [compiled] = await once(new Worker(compiler), 'message');
  return compiled;
}

function find(contract: Contract, { method, path }: Call) {
  const match = contract.match(method === 'HEAD' ? 'GET' : method, path);
  if (match.operation) return match;
  if (!match.allow)
    throw new AdminError(
      'not_found',
      'The path does not exist on the admin listener. See /openapi.json.',
    );
  const Allow = match.allow.join(', ');
  throw new AdminError('method_not_allowed', `This path takes ${Allow}.`, {
    headers: { Allow },
  });
}

function decoded(parameters: readonly string[]): readonly string[] {
  try {
    return parameters.map(decodeURIComponent);
  } catch {
    throw new AdminError(
      'invalid_request',
      'The path has a percent sign that encodes no character.',
    );
  }
}

/** Paths and queries end up in logs. */
function refuseSecrets(values: readonly string[], query: string): void {
  const given = [...values, ...new URLSearchParams(query).values()];
  if (given.some(holdsSecret))
    throw new AdminError('invalid_value', GIVE_THE_ID);
  if (given.some(holdsToken))
    throw new AdminError(
      'invalid_value',
      'This looks like the token of an operator: give its name.',
    );
}

function check(
  operation: Operation,
  parameters: readonly string[],
  { query, headers, body }: Call,
): void {
  const faults: Fault[] = [
    ...operation.checkParameters(parameters, query, headers),
  ];
  if (body !== null) {
    if (!operation.body)
      throw new AdminError('invalid_request', 'This call takes no body.');
    const media = operation.body.media(headerOf(headers, 'Content-Type'));
    if (!media)
      throw new AdminError(
        'unsupported_media_type',
        `This call takes ${operation.body.accepted.join(', ')}.`,
      );
    faults.push(...media.check(body));
  } else if (operation.body?.required) {
    faults.push({
      in: 'body',
      pointer: '',
      message: 'this call needs a body',
      rule: 'required',
    });
  }
  if (faults.length > 0) {
    const named = faults.map(({ in: place, pointer, message }) =>
      `${place} ${pointer}: ${message}`.replace(' :', ':'),
    );
    throw new AdminError('invalid_request', named.join('; '), {
      details: faults,
    });
  }
}

function refuseLowRole({ operator }: Call, id: OperationId): void {
  const [, , role] = ROUTES[id];
  if (includesRole(operator.role, role)) return;
  throw new AdminError(
    'role_too_low',
    `This call needs a token of the role ${role}; yours has ${operator.role}.`,
  );
}

function taskOf(
  operation: Operation,
  values: readonly string[],
  call: Call,
  now: number,
): Task {
  const { operator, method, query, headers, body } = call;
  const names = [...operation.path.matchAll(/\{([^}]+)\}/g)].map(
    ([, name]) => name!,
  );
  const idempotencyKey =
    method === 'GET' ? undefined : headerOf(headers, IDEMPOTENCY_HEADER);
  return {
    now,
    actor: operator.name,
    requestId: call.id,
    reason: reasonIn(headerOf(headers, REASON_HEADER)),
    idempotent:
      idempotencyKey === undefined
        ? null
        : new IdempotentCall(
            call,
            idempotencyKey,
            ROUTES[operation.id as OperationId][3],
          ),
    path: Object.fromEntries(names.map((name, i) => [name, values[i]])),
    query: readQuery(query),
    body: body === null ? {} : JSON.parse(body.toString()),
  };
}

const KINDS: Readonly<Record<KeyError['kind'], AdminCode>> = {
  invalid: 'invalid_value',
  unknown: 'not_found',
  conflict: 'conflict',
};

function adminErrorOf(
  error: unknown,
  { method }: Call,
  { outageText }: AdminContext,
): unknown {
  if (error instanceof KeyError)
    return new AdminError(KINDS[error.kind], sentence(error.message), {
      details: error.field && faultOf(error.field, error.message),
    });
  if (error instanceof ConfigError)
    return new AdminError('invalid_value', error.message);
  if (error instanceof KeyConflict)
    return new AdminError(
      'conflict',
      'The key was changed at the same time: try again.',
    );
  if (error instanceof IdempotencyConflict)
    return new AdminError(
      'conflict',
      'The same call was made at the same time, and its result is gone: try again.',
    );
  if (
    error instanceof Outage &&
    (error.cause instanceof CountersError ||
      error.cause instanceof UnsavedError)
  )
    return new AdminError('state_unavailable', sentence(error.cause.message));
  if (error instanceof Outage) {
    const reason = outageText?.() ?? 'The state does not respond';
    return new AdminError(
      'state_unavailable',
      method === 'GET'
        ? `${reason}, and this gateway has no copy of this.`
        : `${reason}. Repeat the call when it does.`,
    );
  }
  return error;
}

function sentence(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}

function headerOf(
  headers: readonly string[],
  name: string,
): string | undefined {
  const at = headers.findIndex(
    (entry, i) => i % 2 === 0 && entry.toLowerCase() === name.toLowerCase(),
  );
  return at === -1 ? undefined : headers[at + 1];
}
