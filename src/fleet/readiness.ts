/** Whether a gateway takes requests now, and if not, why. */
export type Readiness = 'ready' | 'stopping' | 'state_away' | 'no_worker';
