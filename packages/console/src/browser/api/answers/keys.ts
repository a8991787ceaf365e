// The contract of the admin API, config/admin.openapi.yaml, says what the fields mean. Times are RFC 3339.

export type KeyStatus = 'active' | 'disabled' | 'expired' | 'revoked';

export interface Key {
  readonly id: string;
  readonly account: string;
  readonly plan: string;
  readonly label: string | null;
  readonly limits: string | null;
  readonly status: KeyStatus;
  readonly created: string;
  readonly expires: string | null;
  readonly disabled: string | null;
  readonly revoked: string | null;
  readonly lastUsed: string | null;
  readonly addresses: readonly string[] | null;
  readonly scopes: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly imported: boolean;
  /** Where one key is read while the state is away. */
  readonly asOf?: string;
  readonly rotation: { readonly at: string; readonly overlapEnds: string | null } | null;
}

export interface KeyWithSecret extends Key {
  readonly key: string;
}

export interface Keys {
  readonly keys: readonly Key[];
  readonly next: string | null;
}

export interface Account {
  readonly account: string;
  readonly limits: string | null;
  readonly keys: number;
  readonly active: number;
  readonly plans: readonly string[];
}
