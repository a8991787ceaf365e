// What is told of stores. Pure words: the command line says the same (cli/commands/stores.ts, status.ts).

/** A store as `GET /stores`, `GET /status` and `GET /live` of the admin API tell it. Times are RFC 3339. */
export interface Store {
  readonly upstream: string;
  /** Its host and port. */
  readonly store: string;
  readonly weight: number;
  readonly state: 'up' | 'returning' | 'away' | 'partly';
  readonly since: string;
  readonly reason: string | null;
  /** How many processes were asked, and for how many of them it is away. */
  readonly of: number;
  readonly away: number;
  readonly inFlight: number;
  readonly requests: number;
  readonly failures: number;
  readonly retries: number;
  readonly connections: StoreConnections;
}

export interface StoreConnections {
  readonly open: number;
  readonly idle: number;
  readonly waiting: number;
  readonly most: number;
}

const REASONS: Readonly<Record<string, string>> = {
  unreachable: 'no connection to it',
  untrusted: 'TLS with it failed: a certificate is not good',
  broken: 'no usable answer',
  hanging: 'no answer in time',
  failing: 'too many requests failed',
  statuses: 'answers that count as failures',
  check: 'its checks failed',
};

/** Whether nobody has to look at it. */
export const isWell = ({ state }: Pick<Store, 'state'>): boolean => state === 'up';

/** How it stands: `up`, `returning`, `away`, `away for 1 of 4 processes`. */
export function stateInWords({ state, away, of }: Pick<Store, 'state' | 'away' | 'of'>): string {
  return state === 'partly' ? `away for ${away} of ${of} processes` : state;
}

/** Why it is, or was, away. Empty where there is no reason. */
export function reasonInWords({ reason }: Pick<Store, 'reason'>): string {
  if (reason === null) return '';
  return Object.hasOwn(REASONS, reason) ? REASONS[reason]! : reason;
}
