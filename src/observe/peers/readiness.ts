/** Whether a gateway takes requests now, and if not, why. */
export const READINESS = ['ready', 'stopping', 'state_away', 'stores_away', 'no_worker'] as const;
export type Readiness = (typeof READINESS)[number];

/** Whether a process could answer requests. */
export interface ProcessReadiness {
  readonly readiness: Extract<Readiness, 'ready' | 'state_away' | 'stores_away'>;
  /** What it lacks, whether or not the settings make it unready for that: `state`, `upstream <name>`. */
  readonly away: readonly string[];
}
