import type { RedisData } from './database.ts';
import type { KnownLimits } from './limits.ts';

/** What a script can use. `now`: its clock, whole Unix milliseconds. */
export interface ScriptCall {
  readonly keys: readonly string[];
  readonly args: readonly string[];
  readonly now: number;
  readonly data: RedisData;
  readonly limits: KnownLimits;
  readonly publish: (channel: string, text: string) => void;
}

export type Reply = string | number | null | readonly Reply[];

/** The twin of one file of src/state/redis/lua. */
export type Script = (call: ScriptCall) => Reply;
