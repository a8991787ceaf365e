import type { PlanAddresses } from '../../plan-addresses.ts';
import type { OfFleet } from './of-fleet.ts';
import type { CountingGateway } from './top.ts';

/** `GET /plans`. */
export interface Plans {
  readonly plans: readonly Plan[];
  /** `null`: nobody is banned. */
  readonly bans: Ladder | null;
}

export interface Plan {
  readonly name: string;
  readonly count: 'key' | 'account';
  /** `60/minute,1000/day`; `null`: each key or account has its own. */
  readonly limits: string | null;
  /** `null`: any number. */
  readonly concurrency: number | null;
  readonly weight: number;
  /** `null`: its keys may be used from anywhere. */
  readonly addresses: PlanAddresses | null;
  /** `null`: the state is away. */
  readonly keys: number | null;
}

export interface Ladder {
  readonly strikes: number;
  readonly within: string;
  readonly grace: string;
  readonly lengths: readonly string[];
  readonly forget: string;
}

/** `POST /plans/{plan}/try`, and `PUT /plans/{plan}`, which tells no last day. */
export interface Trial {
  readonly plan: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly keys: number;
  /** `key:<id>`, or `account:<plan>:<account>`. */
  readonly overLimit: readonly string[];
  readonly unusable: readonly string[];
  readonly lastDay?: LastDay | null;
}

export interface LastDay extends OfFleet {
  readonly since: string | null;
  readonly requests: { readonly admitted: number; readonly refused: number };
  readonly windows: readonly TriedWindow[];
  readonly parties: readonly RefusedParty[];
  readonly gateways: readonly CountingGateway[];
}

export interface TriedWindow {
  readonly name: string;
  readonly kind: 'fixed' | 'sliding';
  readonly limit: number;
  readonly counted: boolean;
  /** Since when it was counted, not before the plan had it; `null`: it was not. */
  readonly since: string | null;
  readonly floor: number | null;
  readonly limited: number;
  readonly refused: Refused | null;
}

export interface RefusedParty {
  readonly key: string | null;
  readonly account: string;
  readonly windows: readonly {
    readonly window: string;
    readonly peak: number;
    readonly began: string;
    readonly times: number;
    readonly refused: Refused;
  }[];
}

/** Units; `most` is `null` if it may be any number more. */
export interface Refused {
  readonly least: number;
  readonly most: number | null;
}

/** `GET /history`, as far as the requests of a plan are shown. */
export interface PlanHistory extends OfFleet {
  readonly steps: readonly {
    readonly at: string;
    readonly admitted: number;
    readonly limited: number;
    readonly banned: number;
  }[];
}
