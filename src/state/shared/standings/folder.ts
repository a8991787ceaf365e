import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isLocked, lockFile } from '../../../common/lock.ts';
import { Journal, NotWritten } from '../../journal/journal.ts';
import { Keeper } from '../../journal/keeper.ts';
import { inWords, readJournal } from '../../journal/read.ts';
import type { Kept, Standings } from './kept.ts';
import { stillTrue } from './kept.ts';
import { StandingPacker, unpackStandings } from './packing.ts';

/** Processes that may keep standings in one folder, beside as many that are about to end. */
const PLACES = 4;

export interface StandingsOptions {
  readonly folder: string;
  /** From 1; and how many workers there are. */
  readonly worker: number;
  readonly workers: number;
  /** Told what went wrong; the gateway goes on without. */
  readonly failed: (error: unknown) => void;
}

/** Standings in files of this process alone; `null`: it has no place for them. */
export function standingsInFolder(options: StandingsOptions, now = Date.now()): Standings | null {
  const { folder, failed } = options;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const place = takePlace(options);
    if (place) return standingsAt(folder, place, failed, now);
    failed(new Error('too many processes keep theirs there'));
  } catch (error) {
    failed(error);
  }
  return null;
}

interface Place {
  readonly name: string;
  release(): void;
}

/** The first place that no other process has: one that is about to end may still have this worker's. */
function takePlace({ folder, worker, workers }: StandingsOptions): Place | null {
  for (let number = worker; number <= PLACES * workers; number += workers) {
    const name = `standings.${number}`;
    try {
      return { name, ...lockFile(join(folder, `${name}.lock`)) };
    } catch (error) {
      if (!isLocked(error)) throw error;
    }
  }
  return null;
}

function standingsAt(folder: string, place: Place, failed: (error: unknown) => void, now: number): Standings {
  let keeper: Keeper<Kept> | null = null;
  try {
    let loaded = new Map<string, Kept>();
    const { generations } = readJournal(folder, place.name, () => {
      loaded = new Map();
      return {
        batch: (payload: Buffer, file: string) =>
          unpackStandings(payload, file, (subject, kept) => void loaded.set(subject, kept)),
        damaged: (damage) => failed(new Error(inWords(damage))),
      };
    });
    const journal = new Journal({ folder, name: place.name, older: generations, unsaved: failed });
    return {
      *load() {
        for (const [subject, kept] of loaded) {
          const left = stillTrue(kept, now);
          if (left) yield [subject, left] as const;
        }
        loaded = new Map();
      },
      begin: (living) => {
        keeper = new Keeper(journal, living, new StandingPacker());
      },
      mark: (subject) => keeper?.mark(subject),
      async close() {
        try {
          await keeper?.close();
        } catch (error) {
          if (!(error instanceof NotWritten)) throw error;
        } finally {
          place.release();
        }
      },
    };
  } catch (error) {
    place.release();
    throw error;
  }
}
