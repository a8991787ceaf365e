import { resolve } from 'node:path';
import { ConfigError } from '../config/problems/problems.ts';
import { type Contract, loadContract, type Operation } from '../contract/contract.ts';
import type { Fault } from '../errors/fault.ts';
import { Outage } from '../errors/outage.ts';
import { KeyError } from '../keys/manage.ts';
import { KeyConflict } from '../keys/store.ts';
import { IdempotencyConflict } from '../operators/audit-log.ts';
import { mayActAs } from '../operators/tokens.ts';
import { type AdminCode, AdminError } from './admin-error.ts';
import type { AdminAnswer, AdminOperation, AdminOperations, Call } from './call.ts';
import type { AdminContext } from './context.ts';
import { IdempotentCall } from './idempotency.ts';
import { createOperations } from './operations.ts';

/** The contract of the admin API. */
export const ADMIN_CONTRACT = resolve(import.meta.dirname, '../../config/admin.openapi.yaml');

/** Part of the product and immutable: read once, when it is first needed. */
let adminContract: Contract | null = null;

export interface AdminApi {
  readonly contract: Contract;
  /** Answers a call. Throws AdminError; anything else thrown is a bug. */
  call(call: Call): Promise<AdminAnswer>;
}

/** The admin API without its listener: commands beside a gateway call the same operations. */
export function createAdminApi(context: AdminContext): AdminApi {
  adminContract ??= loadContract(ADMIN_CONTRACT);
  const contract = adminContract;
  const operations = createOperations(context);
  return {
    contract,
    async call(call) {
      const { operation, parameters } = find(contract, call);
      const chosen = operations[operation.id]!;
      check(operation, parameters, call);
      refuseLowRole(call, chosen);
      try {
        return await perform(context, chosen, call, task(operation, parameters, call));
      } catch (error) {
        throw adminErrorOf(error);
      }
    },
  };
}

/** Everything of the API is there: a contract and its operations that differ are a bug. */
export function missing(contract: Contract, operations: AdminOperations): string[] {
  return contract.operations.map(({ id }) => id).filter((id) => !Object.hasOwn(operations, id));
}

function find(contract: Contract, { method, path }: Call) {
  const match = contract.match(method === 'HEAD' ? 'GET' : method, path);
  if (match.operation) return match;
  if (!match.allow)
    throw new AdminError('not_found', 'There is no such path on the admin listener; /openapi.json lists them.');
  const Allow = match.allow.join(', ');
  throw new AdminError('method_not_allowed', `This path takes ${Allow}.`, { headers: { Allow } });
}

function check(operation: Operation, parameters: readonly string[], { query, headers, body }: Call): void {
  const faults: Fault[] = [...operation.checkParameters(parameters, query, headers)];
  if (body !== null) {
    if (!operation.body) throw new AdminError('invalid_request', 'This call takes no body.');
    const media = operation.body.media(headerOf(headers, 'content-type'));
    if (!media)
      throw new AdminError('unsupported_media_type', `This call takes ${operation.body.accepted.join(', ')}.`);
    faults.push(...media.check(body));
  } else if (operation.body?.required) {
    faults.push({ in: 'body', pointer: '', message: 'this call needs a body' });
  }
  if (faults.length > 0) {
    const named = faults.map(({ in: place, pointer, message }) => `${place} ${pointer}: ${message}`.replace(' :', ':'));
    throw new AdminError('invalid_request', named.join('; '), { details: faults });
  }
}

function refuseLowRole({ operator }: Call, { role }: AdminOperation): void {
  if (mayActAs(operator, role)) return;
  throw new AdminError('role_too_low', `This call needs a token of the role ${role}; yours has ${operator.role}.`);
}

function task(operation: Operation, parameters: readonly string[], { query, body }: Call) {
  const names = [...operation.path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name!);
  return {
    path: Object.fromEntries(names.map((name, i) => [name, decodeURIComponent(parameters[i]!)])),
    query: Object.fromEntries(new URLSearchParams(query)),
    body: body === null ? {} : JSON.parse(body.toString()),
  };
}

/** Does it; or, where the very same call was done before, gives the answer of that time. */
async function perform(
  context: AdminContext,
  { run }: AdminOperation,
  call: Call,
  asked: ReturnType<typeof task>,
): Promise<AdminAnswer> {
  const now = context.clock();
  const key = headerOf(call.headers, 'idempotency-key');
  const idempotent = key === undefined || call.method !== 'POST' ? null : new IdempotentCall(call, key);
  const before = idempotent && (await context.auditLog.answered(idempotent.name, now));
  if (idempotent && before) return idempotent.open(before);
  try {
    return await run({
      ...asked,
      now,
      actor: call.operator.name,
      note: (entry, answer) => ({
        entry: { ...entry, at: now, actor: call.operator.name, requestId: call.id },
        idempotent: idempotent?.seal(answer) ?? null,
      }),
    });
  } catch (error) {
    // The same call at the same time was faster: its answer is ours.
    const first =
      error instanceof IdempotencyConflict && idempotent ? await context.auditLog.answered(idempotent.name, now) : null;
    if (!first) throw error;
    return idempotent!.open(first);
  }
}

const KINDS: Readonly<Record<KeyError['kind'], AdminCode>> = {
  invalid: 'invalid_value',
  unknown: 'not_found',
  conflict: 'conflict',
};

function adminErrorOf(error: unknown): unknown {
  if (error instanceof KeyError) return new AdminError(KINDS[error.kind], sentence(error.message));
  if (error instanceof ConfigError) return new AdminError('invalid_value', error.message);
  if (error instanceof KeyConflict)
    return new AdminError('conflict', 'The key was changed at the same time: try again.');
  if (error instanceof Outage)
    return new AdminError('state_unavailable', 'The state cannot be reached: try again later.');
  return error;
}

function sentence(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}

function headerOf(headers: readonly string[], name: string): string | undefined {
  const at = headers.findIndex((entry, i) => i % 2 === 0 && entry.toLowerCase() === name);
  return at === -1 ? undefined : headers[at + 1];
}
