import { randomBytes } from 'node:crypto';

/** People who have signed in at the console, each with the hash of the token that they signed in with. */
export interface Sessions {
  /** Begins one; answers its id, a secret of 256 bits. */
  begin(tokenHash: string): string;
  /** The hash of the token of a session that has not ended, which counts as a use of it; `null`: there is none. */
  find(id: string): string | null;
  /** The same, and no use of it. */
  look(id: string): string | null;
  end(id: string): void;
}

/** Milliseconds. */
export interface SessionLimits {
  /** A session without a use for so long ends. */
  readonly idle: number;
  /** Every session ends after so long. */
  readonly longest: number;
}

/** Of more sessions the oldest end. */
const MOST = 1_000;

/** Sessions in memory: they end with the process. Which role they have is asked at each use, so a revoked token ends them. */
export function createSessions({ idle, longest }: SessionLimits, clock: () => number): Sessions {
  const sessions = new Map<string, { readonly tokenHash: string; readonly begun: number; used: number }>();

  /** One that has not ended. */
  function standing(id: string) {
    const session = sessions.get(id);
    if (!session) return null;
    const now = clock();
    if (now - session.used <= idle && now - session.begun <= longest) return session;
    sessions.delete(id);
    return null;
  }

  return {
    begin(tokenHash) {
      if (sessions.size >= MOST) sessions.delete(sessions.keys().next().value!);
      const id = randomBytes(32).toString('base64url');
      const now = clock();
      sessions.set(id, { tokenHash, begun: now, used: now });
      return id;
    },
    find(id) {
      const session = standing(id);
      if (!session) return null;
      session.used = clock();
      return session.tokenHash;
    },
    look: (id) => standing(id)?.tokenHash ?? null,
    end: (id) => void sessions.delete(id),
  };
}
