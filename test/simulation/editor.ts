import { AdminError } from '../../src/admin/admin-error.ts';
import { IdempotentCall, type Task } from '../../src/admin/call.ts';
import { Outage } from '../../src/common/errors/outage.ts';
import { KeyError } from '../../src/records/keys/draft.ts';
import { KeyConflict } from '../../src/records/keys/store.ts';
import { IdempotencyConflict } from '../../src/records/operators/audit-log.ts';
import type { Step } from './actions.ts';
import type { Fact } from './facts.ts';
import { type Gateway, NOT_RUNNING } from './gateway/gateway.ts';
import type { Simulation } from './simulation.ts';

type EditStep = Extract<Step, { readonly type: 'edit' }>;

/** Milliseconds after which an operator repeats a call without an answer, and between two calls. */
const PATIENCE = 4_000;
const PAUSE = 250;
/** Calls under one name. */
const MOST_CALLS = 12;
const UNANSWERED = 'no response';

/** Operators who repeat a call under its Idempotency-Key until it is answered. */
export class Editor {
  readonly #simulation: Simulation;
  readonly #report: (fact: Fact) => void;
  /** Ids of keys that no client has. */
  readonly #created: string[] = [];
  #names = 0;

  constructor(simulation: Simulation, report: (fact: Fact) => void) {
    this.#simulation = simulation;
    this.#report = report;
  }

  async edit(step: EditStep): Promise<void> {
    const { world } = this.#simulation;
    const name = `edit-${++this.#names}`;
    const sentAt = world.now;
    const call = this.#callOf(step, name);
    const gateways = step.gateways.map((place) => this.#simulation.gateways[place]!);
    const [first, second] = [gateways[0]!, gateways[1] ?? gateways[0]!];
    if (step.twice) void this.#ask(second, call);
    let error: string | null = UNANSWERED;
    let calls = 0;
    while (calls < MOST_CALLS && error === UNANSWERED) {
      error = await this.#ask(calls === 0 ? first : world.random.oneOf(gateways), call);
      calls++;
      if (error === UNANSWERED) await world.sleep(PAUSE);
    }
    world.note('operator', `${name} ${step.kind}: ${error ?? 'confirmed'}`);
    const isOnly = calls === 1 && !step.twice;
    const failed = isOnly && error !== UNANSWERED ? 'refused' : 'unknown';
    const result = error === null ? 'made' : failed;
    const gateway = isOnly ? first.name : null;
    this.#report({ type: 'edit', edit: { name, sentAt, result, gateway } });
  }

  /** `null`: confirmed. */
  async #ask(gateway: Gateway, call: (gateway: Gateway) => Promise<unknown>) {
    const { world } = this.#simulation;
    const late = world.sleep(PATIENCE).then(() => UNANSWERED);
    const response = call(gateway).then(
      () => null,
      (error: Error) => {
        if (!isExpected(error)) world.fail(error);
        return isFinal(error) ? error.message : UNANSWERED;
      },
    );
    return await Promise.race([response, late]);
  }

  #callOf({ kind, key }: EditStep, name: string): (gateway: Gateway) => Promise<unknown> {
    const task = (more: Partial<Task>): Partial<Task> => ({
      requestId: name,
      // Each attempt is another request.
      idempotent: new IdempotentCall(
        {
          id: name,
          operator: { name: 'operator', role: 'operate' },
          method: 'POST',
          path: `/${name}`,
          query: '',
          headers: [],
          body: null,
        },
        name,
        200,
      ),
      ...more,
    });
    const { keys } = this.#simulation;
    const created = this.#created;
    const id = created[key % Math.max(1, created.length)];
    switch (kind === 'rotate' && id === undefined ? 'create' : kind) {
      case 'create':
        return async (gateway) => {
          const body = { account: 'edited', plan: 'wide' };
          const made = await gateway.operate('createKey', task({ body }));
          created.push((made as { id: string }).id);
        };
      case 'label':
        return (gateway) =>
          gateway.operate(
            'updateKey',
            task({ path: { id: keys[key]!.id }, body: { label: name } }),
          );
      case 'rotate':
        return (gateway) =>
          gateway.operate('rotateKey', task({ path: { id: id! }, body: { force: true } }));
      case 'token':
        return (gateway) =>
          key % 2 === 0
            ? gateway.operate(
                'createToken',
                task({ body: { name: `token-${key >> 1}`, role: 'read' } }),
              )
            : gateway.operate('revokeToken', task({ path: { name: `token-${key >> 1}` } }));
    }
  }
}

/** Errors that operators get: an outage, or the state of the key. */
export function isExpected(error: unknown): boolean {
  return EXPECTED.some((kind) => error instanceof kind) || (error as Error).message === NOT_RUNNING;
}

/** After other errors the call is repeated. */
const isFinal = (error: unknown) => error instanceof AdminError || error instanceof KeyError;

const EXPECTED = [Outage, AdminError, KeyError, KeyConflict, IdempotencyConflict, AggregateError];
