import { setImmediate } from 'node:timers/promises';
import type { KeyRecord } from '../../keys/key.ts';
import type { TokenRecord } from '../../keys/operators/tokens.ts';
import { ahead } from './ahead.ts';
import { TransferError } from './file-format.ts';
import type { FileWriter } from './file-target.ts';
import { Fingerprints } from './fingerprints.ts';
import type { Missing } from './missing.ts';
import { OUTCOMES, type Outcome, type Source, type Taken, type Target } from './port.ts';
import { type Batch, type Counts, noCounts, type RecordType, type SubjectLedger, TYPES } from './records.ts';
import { isBanned } from './rules.ts';
import { soundIn } from './sound.ts';

/** Sentences that are kept for people; what is beyond them is only counted. */
const MOST_TOLD = 100;

/** Some sentences, and how many there would be. */
export interface Told {
  readonly count: number;
  readonly first: readonly string[];
}

/** What a move has done, or would do. */
export interface Moved {
  readonly given: Counts;
  readonly outcomes: Readonly<Record<RecordType, Readonly<Record<Outcome, number>>>>;
  readonly conflicts: Told;
  /** Records that no file may have, such as those whose form is wrong. */
  readonly leftOut: Told;
  /** How much the target has of each type now. */
  readonly has: Counts;
  /** Bans in force in the target that the source does not have, and names of tokens. */
  readonly bansOnlyThere: number;
  readonly tokensOnlyThere: readonly string[];
}

export interface MoveOptions {
  readonly missing: Missing;
  /** Is called with how many records are through. */
  readonly pass: (records: number) => void;
  /** Who moves it, as the audit log names operators. */
  readonly actor: string;
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Refuses a target that has keys, tokens or audit entries. */
  readonly onlyEmpty: boolean;
  readonly dryRun: boolean;
}

/** Writes all of a source into a file. Answers what was written, and what was left out. */
export async function writeFile(
  source: Source,
  file: FileWriter,
  pass: MoveOptions['pass'],
): Promise<{ readonly has: Counts; readonly leftOut: Told }> {
  const leftOut = new Telling();
  let through = 0;
  for await (const batch of ahead(source.read())) {
    file.take(source.isChecked ? batch : soundIn(batch, leftOut.add));
    through += batch.values.length;
    pass(through);
    await setImmediate();
  }
  return { has: await file.finish(), leftOut };
}

/**
 * Takes all of a source into a target. What is there already stays where it is newer; the rules are those of rules.ts. Throws
 * TransferError where the target is to be empty and is not.
 */
export async function move(source: Source, target: Target, options: MoveOptions): Promise<Moved> {
  if (options.onlyEmpty && (await target.isUsed())) {
    throw new TransferError(
      `${target.name} has keys, tokens or audit entries already: nothing was changed. To take in what is missing there, use storegate state import; to restore, name another folder or Redis`,
    );
  }
  const moving = new Moving(options);
  for await (const batch of ahead(source.read())) {
    const sound = source.isChecked ? batch : soundIn(batch, moving.leftOut.add);
    moving.note(sound, await target.take(sound));
    // Neither a file nor a folder is waited for, and a signal is heard only in between.
    await setImmediate();
  }
  const bansOnlyThere = await moving.bansOnlyIn(target);
  const tokensOnlyThere = (await target.tokens()).filter((name) => !moving.tokens.has(name));
  const has = await target.finish(options.dryRun || !moving.hasChanged ? null : moving.entry(source));
  const { given, outcomes, conflicts, leftOut } = moving;
  return { given, outcomes, conflicts, leftOut, has, bansOnlyThere, tokensOnlyThere };
}

/** How many records of each type should be there after a move and are not. Ledgers and entries may have gone by themselves. */
export function lost({ outcomes, has }: Moved): Partial<Counts> {
  const short: Partial<Record<RecordType, number>> = {};
  for (const type of ['key', 'token', 'use'] as const) {
    const { added, changed, same, kept } = outcomes[type];
    const missing = added + changed + same + kept - has[type];
    if (missing > 0) short[type] = missing;
  }
  return short;
}

class Moving {
  readonly given = noCounts();
  readonly outcomes = Object.fromEntries(TYPES.map((type) => [type, noOutcomes()])) as Record<
    RecordType,
    Record<Outcome, number>
  >;
  readonly conflicts = new Telling();
  readonly leftOut = new Telling();
  readonly tokens = new Set<string>();
  readonly #banned = new Fingerprints();
  readonly #options: MoveOptions;
  #through = 0;

  constructor(options: MoveOptions) {
    this.#options = options;
  }

  get hasChanged(): boolean {
    return Object.values(this.outcomes).some(({ added, changed }) => added + changed > 0);
  }

  note({ type, values }: Batch, taken: readonly Taken[]): void {
    this.given[type] += values.length;
    for (const one of taken) {
      this.outcomes[type][typeof one === 'string' ? one : 'conflict'] += 1;
      if (typeof one !== 'string') this.conflicts.add(one.conflict);
    }
    if (type === 'key') for (const key of values as readonly KeyRecord[]) this.#options.missing.note(key);
    if (type === 'token') for (const { name } of values as readonly TokenRecord[]) this.tokens.add(name);
    if (type === 'ledger') this.#noteBans(values as readonly SubjectLedger[]);
    this.#through += values.length;
    this.#options.pass(this.#through);
  }

  async bansOnlyIn(target: Target): Promise<number> {
    let count = 0;
    for await (const subject of target.banned()) if (!this.#banned.has(subject)) count += 1;
    return count;
  }

  /** The audit entry of the move itself. */
  entry({ kind }: Source) {
    const { actor, requestId, clock } = this.#options;
    const of = (outcome: Outcome) => Object.fromEntries(TYPES.map((type) => [type, this.outcomes[type][outcome]]));
    const after = {
      from: kind,
      given: this.given,
      added: of('added'),
      changed: of('changed'),
      conflicts: of('conflict'),
    };
    return { at: clock(), actor, action: 'state.import', target: 'state', before: null, after, requestId };
  }

  #noteBans(values: readonly SubjectLedger[]): void {
    const now = this.#options.clock();
    for (const { subject, ledger } of values) if (isBanned(ledger, now)) this.#banned.add(subject);
  }
}

class Telling implements Told {
  readonly first: string[] = [];
  count = 0;

  readonly add = (sentence: string): void => {
    this.count += 1;
    if (this.first.length < MOST_TOLD) this.first.push(sentence);
  };
}

function noOutcomes(): Record<Outcome, number> {
  return Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 0])) as Record<Outcome, number>;
}
