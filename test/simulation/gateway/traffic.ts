import type { AddressSubjects } from '../../../src/common/clients/address-subjects.ts';
import type { Guard } from '../../../src/common/clients/guard.ts';
import { Outage } from '../../../src/common/errors/outage.ts';
import { Refusal } from '../../../src/common/errors/refusals.ts';
import { DEFAULT_KEY_HEADERS } from '../../../src/common/key-headers.ts';
import type { Config } from '../../../src/config/config.ts';
import type { Contract } from '../../../src/config/contract/contract.ts';
import type { Exchange } from '../../../src/gateway/exchange.ts';
import { createAdmit, createJudge } from '../../../src/gateway/stages/admit.ts';
import { createAnonymous } from '../../../src/gateway/stages/anonymous.ts';
import { createAuthenticate } from '../../../src/gateway/stages/authenticate.ts';
import { createFlights, createInFlight } from '../../../src/gateway/stages/in-flight.ts';
import { createRequestGuard } from '../../../src/gateway/stages/request-guard.ts';
import type { Call } from '../../../src/gateway/wire/call.ts';
import { createFieldNames } from '../../../src/gateway/wire/fields.ts';
import { Via } from '../../../src/gateway/wire/via.ts';
import type { Admission } from '../../../src/limits/admission.ts';
import type { Plans } from '../../../src/limits/plans.ts';
import type { Observe } from '../../../src/observe/events.ts';
import type { BanRecorder } from '../../../src/records/ban-recorder.ts';
import { isAnonymous } from '../../../src/records/keys/key.ts';
import type { Keyring } from '../../../src/records/keys/keyring.ts';
import type { LastUseTracker } from '../../../src/records/keys/last-use-tracker.ts';
import { limitsOf } from '../../../src/records/keys/subjects.ts';
import type { State } from '../../../src/state/state.ts';
import { exchangeApi } from '../../support/exchange.ts';
import { SimulatedCall } from './call.ts';
import { OPERATIONS, type OperationName, SCOPED } from './operations.ts';

export interface Request {
  readonly operation: OperationName;
  /** `null`: without a key. */
  readonly secret: string | null;
  readonly address: string;
  /** Milliseconds until the backend has responded. */
  readonly backend: number;
}

export interface Reply {
  readonly status: number;
  readonly code: string | null;
  /** Seconds, as sent. */
  readonly retryAfter: number | null;
  readonly admission: Admission | null;
  /** True time, at which the request was admitted or refused. */
  readonly decidedAt: number;
  readonly subject: string | null;
}

export interface TrafficParts {
  readonly config: Config;
  readonly state: State;
  readonly keyring: Keyring;
  readonly guard: Guard;
  readonly bans: BanRecorder;
  readonly uses: LastUseTracker;
  readonly subjects: AddressSubjects;
  readonly observe: Observe;
  readonly clock: () => number;
  readonly trueTime: () => number;
}

/** The contract as far as keyless clients need it. */
const CONTRACT = {
  windows: SCOPED,
  operations: Object.values(OPERATIONS),
  match: (_method: string, path: string) => ({
    operation: OPERATIONS[path.slice(1) as OperationName],
  }),
} as unknown as Contract;

/** One request of so many loses its client while the state decides. */
const LEAVE_EVERY = 17;

/**
 * The way of a request from its key to its admission, of the real stages; the backend is a pause.
 */
export class Traffic {
  readonly flights = createFlights();
  readonly #parts: TrafficParts;
  readonly #guard: ReturnType<typeof createRequestGuard>;
  #authenticate!: ReturnType<typeof createAuthenticate>;
  #admit!: ReturnType<typeof createAdmit>;
  #decisions = 0;

  constructor(parts: TrafficParts) {
    this.#parts = parts;
    const { config, observe } = parts;
    const names = createFieldNames({ strip: [] });
    this.#guard = createRequestGuard({
      config: config.http,
      paths: config.contract,
      observe,
      api: exchangeApi,
      names,
      beginSpan: null,
    });
    this.usePlans(config.plans);
  }

  /** As a reload builds another pipeline. */
  usePlans(plans: Plans): void {
    const { state, bans, observe, keyring, guard, clock, subjects } = this.#parts;
    const anonymous = createAnonymous({
      contract: CONTRACT,
      plan: plans.publicPlan ?? null,
      limits: limitsOf(plans.publicPlan?.windows ?? [], {
        escalation: null,
        scoped: CONTRACT.windows,
      }),
      subjects,
      usagePaths: [],
    });
    this.#authenticate = createAuthenticate({
      keyring,
      guard,
      clock,
      keyHeaders: DEFAULT_KEY_HEADERS,
      anonymous,
      via: new Via(Buffer.of()),
    });
    const judge = createJudge({ bans, observe });
    const admit = createAdmit({ state, judge });
    this.#admit = createInFlight({ plans, flights: this.flights, state, judge, admit });
  }

  /** Calls `answered` once, unless the process ends before. */
  async handle(
    { operation, secret, address, backend }: Request,
    answered: (response: Reply) => void,
  ): Promise<void> {
    const call = new SimulatedCall(`/${operation}`, address, secret);
    const exchange = this.#guard.open(call as unknown as Call);
    const refusal = await this.#pass(exchange, call, operation);
    const decidedAt = this.#parts.trueTime();
    if (refusal === null && !call.left)
      await new Promise((resolve) => setTimeout(resolve, backend));
    const status = refusal?.status ?? 200;
    exchange.code = refusal?.code ?? null;
    const { admission, client } = exchange;
    if (!call.left) call.finish(status);
    const code = refusal?.code ?? null;
    const retryAfter = secondsIn(refusal?.headers ?? []);
    answered({ status, code, retryAfter, admission, decidedAt, subject: client?.subject ?? null });
  }

  /** `null`: admitted. An outage is a refusal with the status of its code. */
  async #pass(
    exchange: Exchange,
    call: SimulatedCall,
    name: OperationName,
  ): Promise<Refusal | null> {
    try {
      const target = this.#guard.enter(exchange);
      const existing = await this.#authenticate(exchange, target);
      if (existing instanceof Refusal) return existing;
      exchange.route = name;
      if (!isAnonymous(existing)) this.#parts.uses.note(existing.keyId);
      const { cost, scopes } = OPERATIONS[name];
      exchange.scopes = scopes;
      const admitting = this.#admit(exchange, existing, cost);
      if (exchange.deciding !== null && ++this.#decisions % LEAVE_EVERY === 0) call.finish(null);
      const admitted = await admitting;
      return admitted instanceof Refusal ? admitted : null;
    } catch (error) {
      if (!(error instanceof Outage)) throw error;
      return new Refusal(error.code);
    }
  }
}

function secondsIn(headers: readonly string[]): number | null {
  const at = headers.indexOf('Retry-After');
  return at < 0 ? null : Number(headers[at + 1]);
}
