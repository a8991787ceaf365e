import { MINUTE, SECOND } from '../../src/common/time.ts';
import { remainingIn } from '../../src/limits/admission.ts';
import type { Event } from '../../src/observe/events.ts';
import { describeAction, type Plan } from './actions.ts';
import { createKey } from './clients.ts';
import { Disturbances, type Fact } from './facts.ts';
import { INVARIANTS } from './invariants/all.ts';
import type { Invariant } from './invariants/invariant.ts';
import { plansOfRuns } from './plan.ts';
import { Player } from './player.ts';
import { type Simulation, simulate } from './simulation.ts';
import { BEGIN } from './world/world.ts';

/** A promise that was broken. */
export interface Failure {
  readonly invariant: string;
  /** Milliseconds since the beginning. */
  readonly at: number;
  readonly gateway: string | null;
  /** The last thing that happened. */
  readonly action: string;
  readonly expected: string;
}

export interface Outcome {
  readonly failure: Failure | null;
  readonly trace: readonly string[];
  readonly events: number;
  readonly answers: number;
}

/** Ends a run with its failure. */
class Broken extends Error {
  override name = 'Broken';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.expected);
    this.failure = failure;
  }
}

/** Milliseconds after the last action, in which everything must work again. */
const AFTERWARDS = 2 * MINUTE;
/** Milliseconds in which a change reaches all gateways. */
const QUIET = SECOND + 100;
/** Lines of a story, without its first and last two. */
const MOST_ACTIONS = 16;

/** Plays a plan. An error that escapes is a failure too. */
export async function play(plan: Plan): Promise<Outcome> {
  const received = (process: string, event: Event) => run?.receive(process, event);
  let run: Run | null = null;
  const options = {
    seed: plan.seed,
    gateways: plan.gateways,
    plans: plansOfRuns(),
    heard: received,
  };
  return await simulate(options, async (simulation) => {
    const current = new Run(simulation);
    run = current;
    const failure = await current.play(plan).catch((error: unknown) => current.failureOf(error));
    const { trace, events } = simulation.world;
    return { failure, trace, events, answers: current.answers };
  });
}

class Run {
  readonly #simulation: Simulation;
  readonly #invariants: readonly Invariant[];
  readonly #disturbances = new Disturbances();
  #last: { gateway: string | null; text: string } = { gateway: null, text: 'the start' };
  #changedAt = 0;
  answers = 0;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
    const view = { simulation, disturbances: this.#disturbances };
    this.#invariants = INVARIANTS.map((make) => make(view));
  }

  receive(process: string, event: Event): void {
    const { world } = this.#simulation;
    if (event.type === 'request' || event.type === 'state.responded') return;
    const { type, ...fields } = event;
    const text = JSON.stringify(fields, (_, value) =>
      value instanceof Error ? value.message : value,
    );
    world.note(process, `${type} ${text.slice(0, 200)}`);
    if (type === 'bug') world.fail((event as { error: unknown }).error);
    this.#report({ type: 'event', process, at: world.now, event });
  }

  async play(plan: Plan): Promise<null> {
    const simulation = this.#simulation;
    const { world } = simulation;
    for (const [i, name] of plan.keys.entries())
      await createKey(simulation, name, `account-${i % 2}`);
    const player = new Player(simulation, this.#disturbances, (fact) => this.#report(fact));
    for (const action of plan.actions)
      world.schedule(BEGIN + action.at - world.now, () => this.#guarded(() => player.do(action)));
    for (const at of [...plan.checks, plan.length + AFTERWARDS]) {
      await world.run(BEGIN + at);
      await this.#check();
    }
    return null;
  }

  async #check(): Promise<void> {
    for (const invariant of this.#invariants) {
      const expected = (await invariant.check?.()) ?? null;
      if (expected !== null) throw this.#broken(invariant, 'a look at everything', expected);
    }
  }

  failureOf(error: unknown): Failure {
    if (error instanceof Broken) return error.failure;
    const expected = `no error, not ${error instanceof Error ? error.stack : String(error)}`;
    return this.#broken({ name: 'nothing throws' }, this.#last.text, expected).failure;
  }

  #report(fact: Fact): void {
    this.#note(fact);
    this.#guarded(() => {
      for (const invariant of this.#invariants) {
        const expected = invariant.observe(fact);
        if (expected !== null) throw this.#broken(invariant, this.#last.text, expected);
      }
    });
    if (fact.type === 'edit' || fact.type === 'change') this.#lookWhenQuiet();
  }

  #lookWhenQuiet(): void {
    const { world } = this.#simulation;
    const at = world.now;
    this.#changedAt = at;
    world.schedule(QUIET, () => {
      if (this.#changedAt !== at) return;
      this.#guarded(() => {
        for (const invariant of this.#invariants) {
          const expected = invariant.quiet?.() ?? null;
          if (expected !== null) throw this.#broken(invariant, this.#last.text, expected);
        }
      });
    });
  }

  /** Invariants are checked in code of gateways too, which would report the error as theirs. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#simulation.world.fail(error);
    }
  }

  #note(fact: Fact): void {
    if (fact.type === 'plans' || fact.type === 'client' || fact.type === 'attempt') return;
    if (fact.type === 'edit') {
      const { name, result } = fact.edit;
      this.#last = { gateway: null, text: `${name} by an operator: ${result}` };
      return;
    }
    if (fact.type === 'event') this.#last = { gateway: fact.process, text: fact.event.type };
    else if (fact.type === 'change')
      this.#last = { gateway: null, text: `${fact.change.step.type} by an operator` };
    else {
      const { gateway, status, code, subject, retryAfter, client, admission } = fact.answer;
      this.answers++;
      const remaining = admission?.readings.map(remainingIn).join(' ') ?? '';
      const answered = `${status} ${code ?? ''} ${subject ?? ''}`;
      const text = `client ${client}: ${answered}, retry ${retryAfter}, left ${remaining}`;
      this.#simulation.world.note(gateway, text);
      this.#last = { gateway, text };
    }
  }

  #broken({ name: invariant }: Pick<Invariant, 'name'>, action: string, expected: string): Broken {
    const at = this.#simulation.world.now - BEGIN;
    return new Broken({ invariant, at, gateway: this.#last.gateway, action, expected });
  }
}

/** A failing run in at most twenty lines. */
export function storyOf({ seed, gateways, actions }: Plan, failure: Failure): string {
  const { invariant, at, gateway, action, expected } = failure;
  const before = actions.filter((one) => one.at <= at);
  const shown = before.slice(-MOST_ACTIONS).map(describeAction);
  const state =
    gateways === 0 ? 'one gateway with its own state' : `${gateways} gateways with one Redis`;
  return [
    `seed ${seed}: ${state}: ${invariant}`,
    ...(before.length > MOST_ACTIONS
      ? [`           ${before.length - MOST_ACTIONS} actions before`]
      : []),
    ...shown,
    `${(at / 1_000).toFixed(3).padStart(9)} s  ${gateway ?? 'all'}: ${action}`,
    `           expected ${expected}`,
  ].join('\n');
}
