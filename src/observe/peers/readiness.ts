export const READINESS = ['ready', 'stopping', 'state_away', 'stores_away', 'no_worker'] as const;
export type Readiness = (typeof READINESS)[number];

export interface ProcessReadiness {
  readonly readiness: Extract<Readiness, 'ready' | 'state_away' | 'stores_away'>;
  /** Regardless of the settings: `state`, `upstream <name>`. */
  readonly down: readonly string[];
}
