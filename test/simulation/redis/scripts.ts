import type { RedisData } from './database.ts';
import type { KnownLimits } from './limits.ts';

/** Mistakes that can be planted in the twin, to show that the simulation finds them. */
export type Mistake = 'reopened window keeps its lifetime';

/** What a script can use. `now`: its clock, whole Unix milliseconds. */
export interface ScriptCall {
  readonly keys: readonly string[];
  readonly args: readonly string[];
  readonly now: number;
  readonly data: RedisData;
  readonly limits: KnownLimits;
  readonly mistakes: ReadonlySet<Mistake>;
  readonly publish: (channel: string, text: string) => void;
}

export type Reply = string | number | null | readonly Reply[];

/** The twin of one file of src/state/redis/lua. */
export type Script = (call: ScriptCall) => Reply;
