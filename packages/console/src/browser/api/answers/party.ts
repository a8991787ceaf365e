import type { BanRecord } from './bans.ts';

// What a party has left behind. The contract of the admin API, config/admin.openapi.yaml, says what the fields mean.

/** How a key, or an account that is counted as one, stands now. */
export interface Standing {
  readonly subject: string;
  /** `null`: the account as a whole. */
  readonly key: string | null;
  readonly account: string;
  readonly plan: string;
  readonly windows: readonly {
    readonly name: string;
    readonly kind: 'fixed' | 'sliding';
    readonly limit: number;
    readonly used: number;
    readonly remaining: number;
    readonly resets: string | null;
  }[];
  readonly banned: string | null;
  readonly strikes: number;
  readonly rung: number;
  readonly history?: BanRecord;
}

export interface Usage {
  readonly usage: readonly Standing[];
}

export interface Changes {
  readonly entries: readonly {
    readonly number: number;
    readonly at: string;
    readonly actor: string;
    readonly action: string;
    readonly target: string;
    readonly before: Readonly<Record<string, unknown>> | null;
    readonly after: Readonly<Record<string, unknown>> | null;
    readonly reason: string | null;
  }[];
  readonly next: number | null;
}
