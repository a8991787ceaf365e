import type { OperationName } from './gateway/operations.ts';
import type { ConnectionKind, Direction } from './world/network.ts';

/**
 * What a run does, in plain values: a failing run is made smaller by leaving actions out. Times are
 * milliseconds.
 */
export type Action = { readonly at: number } & Step;

/**
 * `gateway`: its place; `null`: each request goes to another one. `key`: its place among the keys;
 * `null`: none. `offset`: what a clock is ahead of the true time from now on; `jump`: what it
 * jumps. `backup`: of the records, which a Redis without them, or with newer ones, gets back.
 * `lag`: the last writes that a replica lacked; 0: Redis is started again with all its data.
 */
export type Step =
  | {
      readonly type: 'clients';
      readonly manner: 'polite' | 'deaf';
      readonly key: number | null;
      readonly workers: number;
      readonly gateway: number | null;
      readonly operation: OperationName;
      readonly pause: number;
      readonly backend: number;
      readonly duration: number;
    }
  | { readonly type: 'guesses'; readonly gateway: number; readonly count: number }
  | {
      readonly type: 'ban';
      readonly gateway: number;
      readonly key: number;
      readonly length: number;
    }
  | { readonly type: 'lift' | 'reset' | 'revoke'; readonly gateway: number; readonly key: number }
  | {
      readonly type: 'grant';
      readonly gateway: number;
      readonly key: number;
      readonly units: number;
    }
  | {
      readonly type: 'edit';
      /** Of each attempt, in turn. */
      readonly gateways: readonly number[];
      readonly kind: EditKind;
      /** The place of the key or token. */
      readonly key: number;
      /** Whether two gateways get the same call at once. */
      readonly twice: boolean;
    }
  | { readonly type: 'backup' }
  | { readonly type: 'records are lost' | 'records are restored'; readonly duration: number }
  | { readonly type: 'plans'; readonly factor: number }
  | { readonly type: 'clock'; readonly machine: number | 'redis'; readonly offset: number }
  | { readonly type: 'ahead'; readonly machine: number | 'redis'; readonly jump: number }
  | { readonly type: 'drift'; readonly machine: number | 'redis'; readonly drift: number }
  | {
      readonly type: 'cut';
      readonly gateway: number;
      readonly directions: readonly Direction[];
      readonly kinds: readonly ConnectionKind[];
      readonly duration: number;
    }
  | {
      readonly type: 'slow';
      readonly gateway: number;
      readonly delay: number;
      readonly duration: number;
    }
  | { readonly type: 'redis ends'; readonly duration: number; readonly lag: number }
  | { readonly type: 'redis hangs' | 'redis is demoted'; readonly duration: number }
  | {
      readonly type: 'kill' | 'power' | 'restart';
      readonly gateway: number;
      readonly duration: number;
    }
  | { readonly type: 'stop' | 'suspend'; readonly gateway: number; readonly duration: number }
  | { readonly type: 'receiver'; readonly duration: number };

/** What a call of an operator changes. `create` adds a key that no client has. */
export type EditKind = 'create' | 'label' | 'rotate' | 'token';

export type StepType = Step['type'];

/** A whole run. */
export interface Plan {
  readonly seed: number;
  /** 0: the embedded state. */
  readonly gateways: number;
  readonly keys: readonly string[];
  /** Milliseconds. */
  readonly length: number;
  readonly actions: readonly Action[];
  /** Moments at which everything works, so that all reports are checked. */
  readonly checks: readonly number[];
}

/** One line of a story. */
export function describeAction({ at, type, ...rest }: Action): string {
  const fields = Object.entries(rest).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return `${(at / 1_000).toFixed(1).padStart(9)} s  ${type}: ${fields.join(', ')}`;
}
