// The contract of the admin API, config/admin.openapi.yaml, says what the fields mean. Times are RFC 3339.

/** Bans of a party in the last 30 days. */
export interface BanRecord {
  readonly bans: number;
  readonly pardoned: { readonly at: string; readonly by: string } | null;
}

export interface Ban {
  readonly subject: string;
  readonly key: string | null;
  readonly account: string | null;
  readonly plan: string | null;
  readonly since: string | null;
  readonly until: string;
  /** `null`: the state is away. */
  readonly rung: number | null;
  readonly next: string | null;
  readonly reason: string | null;
  readonly by: string | null;
  readonly history?: BanRecord;
}

export interface BanEntry {
  readonly number: number;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly after: { readonly plan?: string | null; readonly until?: string | null; readonly rung?: number } | null;
  readonly reason: string | null;
  readonly ended: {
    readonly at: string;
    readonly how: 'expired' | 'pardoned' | 'extended' | 'replaced' | 'failed';
    readonly by: string | null;
  } | null;
}

export interface BanHistory {
  readonly entries: readonly BanEntry[];
  readonly next: number | null;
}
