import { randomBytes } from 'node:crypto';

/** People who have signed in at the console, each with the hash of the token that they signed in with. */
export interface Sessions {
  /** Begins one; answers its id, a secret of 256 bits. */
  begin(tokenHash: string): string;
  /** The hash of the token of a session that has not ended; `null`: there is none. */
  find(id: string): string | null;
  /** Notes that a person was there. What a page asks by itself is no use, or a tab left open would never be signed out. */
  use(id: string): void;
  end(id: string): void;
}

/** Milliseconds. */
export interface SessionLimits {
  /** A session without a use for so long ends. */
  readonly idle: number;
  /** Every session ends after so long. */
  readonly longest: number;
}

/** Of more sessions of one token the oldest end, so that nobody's signing in ends a session of others. */
const MOST = 50;

interface Session {
  readonly tokenHash: string;
  readonly begun: number;
  used: number;
}

/**
 * Sessions in memory: they end with the process. What a session may do is asked of its token at each call, so a revoked token ends it.
 * `limits` are asked each time, as a reload may change them.
 */
export function createSessions(limits: () => SessionLimits, clock: () => number): Sessions {
  /** In the order in which they began. */
  const sessions = new Map<string, Session>();

  function hasEnded({ begun, used }: Session): boolean {
    const { idle, longest } = limits();
    const now = clock();
    return now - used > idle || now - begun > longest;
  }

  function live(id: string): Session | null {
    const session = sessions.get(id);
    if (!session) return null;
    if (!hasEnded(session)) return session;
    sessions.delete(id);
    return null;
  }

  function makeRoom(tokenHash: string): void {
    for (const [id, session] of sessions) if (hasEnded(session)) sessions.delete(id);
    const same = [...sessions].filter(([, session]) => session.tokenHash === tokenHash);
    for (const [id] of same.slice(0, Math.max(0, same.length - MOST + 1))) sessions.delete(id);
  }

  return {
    begin(tokenHash) {
      makeRoom(tokenHash);
      const id = randomBytes(32).toString('base64url');
      const now = clock();
      sessions.set(id, { tokenHash, begun: now, used: now });
      return id;
    },
    find: (id) => live(id)?.tokenHash ?? null,
    use(id) {
      const session = live(id);
      if (session) session.used = clock();
    },
    end: (id) => void sessions.delete(id),
  };
}
