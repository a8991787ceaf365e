import { HOUR, SECOND } from '../common/time.ts';
import { joinSources, type Sources, type Value } from './value.ts';
import { SIGN_OF_LIFE } from './writer.ts';

/** Milliseconds after the last sign of life. */
const SILENT = SIGN_OF_LIFE + 5 * SECOND;

/** Times are Unix milliseconds. */
export interface Coverage {
  /** Nothing after it is missing; `null`: nothing is known. */
  readonly since: number | null;
  /** Processes that run, by start. */
  readonly running: readonly {
    readonly process: string;
    readonly since: number;
  }[];
  /**
   * Processes that ended without a stop: at most a second soon after `at` is missing. `most`:
   * requests of their busiest second.
   */
  readonly lost: readonly {
    readonly process: string;
    readonly at: number;
    readonly most: number;
  }[];
  /** Requests that could not be stored. */
  readonly dropped: number;
}

/** Milliseconds after the last head of a process in which its last second may lie. */
const LOST = SIGN_OF_LIFE + SECOND;

/** In place of a process: requests before its head may be missing. */
export const GAP = 'import of a state#';

/** What values lack, from what processes noted in them. */
export function createCoverageSum() {
  const sources: Sources[] = [];
  let missingUntil = 0;

  function noteMissing(until: number): void {
    missingUntil = Math.max(missingUntil, until);
  }

  return {
    add({ start, span, sources: noted }: Value): void {
      sources.push(noted);
      for (const [process, { dropped, until }] of Object.entries(noted)) {
        if (dropped > 0) noteMissing(start + span);
        if (process.startsWith(GAP)) noteMissing(until);
      }
      if (sources.length > 100)
        sources.splice(0, Infinity, joinSources(sources));
    },
    /** `from`: the begin of the period. `begin`: that of all usage; `null`: none. */
    result(from: number, begin: number | null, now: number): Coverage {
      const all = Object.entries(joinSources(sources));
      const silent = all.filter(
        ([, { ended, until }]) => !ended && until < now - SILENT,
      );
      const lost = silent
        .map(([process, { until, most }]) => ({
          process: shownName(process),
          at: until,
          most,
        }))
        .sort((one, other) => one.at - other.at);
      const running = all
        .filter(
          ([, { ended, until }]) =>
            !ended && until >= now - SILENT && until <= now + HOUR,
        )
        .map(([process, { since }]) => ({ process: shownName(process), since }))
        .sort((one, other) => one.since - other.since);
      const ends = [...lost.map(({ at }) => at + LOST), missingUntil];
      return {
        since: begin === null ? null : Math.max(from, begin, ...ends),
        running,
        lost,
        dropped: all.reduce((sum, [, { dropped }]) => sum + dropped, 0),
      };
    },
  };
}

/** Without the part that makes it unique. */
const shownName = (process: string): string =>
  process.slice(0, process.lastIndexOf('#'));
