import { randomBytes } from 'node:crypto';

/** Sessions of the console, each with the hash of its token. */
export interface Sessions {
  /** Returns the id, a secret of 256 bits. */
  begin(tokenHash: string): string;
  /** `null`: unknown or ended. */
  find(id: string): string | null;
  /** Records user activity. Polling by a page does not count, so that open tabs expire. */
  use(id: string): void;
  end(id: string): void;
}

/** Milliseconds. */
export interface SessionLimits {
  readonly idle: number;
  readonly longest: number;
}

/** The oldest sessions of the same token end, so that a sign-in never ends the session of another operator. */
const MOST = 50;

interface Session {
  readonly tokenHash: string;
  readonly begun: number;
  used: number;
}

/** In memory. Each call checks the token, so revoking it ends its sessions. `limits` may change with a reload. */
export function createSessions(limits: () => SessionLimits, clock: () => number): Sessions {
  /** In the order of their begin. */
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
