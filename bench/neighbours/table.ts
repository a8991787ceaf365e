/** What the table of attacks consists of. */

export interface Setup {
  /** `own`: that of contract.ts. */
  readonly contract: 'own' | 'shipped' | 'none';
  /** What the shell does with the log, such as `> /dev/full`. Default: requests are not logged. */
  readonly log?: string;
  /** Default: as shipped. */
  readonly maxBodyBytes?: string;
}

/** What an attack knows. */
export interface Target {
  readonly port: number;
  readonly keys: AttackKeys;
  /** Of a flood. */
  readonly connections: number;
}

export interface AttackKeys {
  /** Each of another account. */
  readonly strangers: readonly string[];
  /** All of one account. */
  readonly account: readonly string[];
}

/** What the business client sends. */
export interface Question {
  readonly name: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  /** Each on a connection of its own. */
  readonly fresh?: boolean;
}

export interface Attack {
  readonly name: string;
  readonly setup: Setup;
  /** Whether nginx shares the same thing. */
  readonly nginx: boolean;
  readonly questions: readonly Question[];
  /** Resolves when everything that the attack begins with is open. */
  readonly run: (target: Target) => Promise<void>;
}
