import type { Disturbances, Fact } from '../facts.ts';
import type { Simulation } from '../simulation.ts';

/** What an invariant may look at besides facts. */
export interface RunView {
  readonly simulation: Simulation;
  readonly disturbances: Disturbances;
}

/**
 * A promise, checked against what happened. Each function returns what was expected instead;
 * `null`: nothing.
 */
export interface Invariant {
  readonly name: string;
  observe(fact: Fact): string | null;
  /** `QUIET` milliseconds after the last answer to an operator. */
  quiet?(): string | null;
  /** While everything works, and at the end. */
  check?(): Promise<string | null>;
}

export type MakeInvariant = (view: RunView) => Invariant;
