import { DAY } from '../../common/time.ts';
import { isObject } from '../../config/schema/schema.ts';
import { LAST_MOMENT } from './field-checks.ts';

type Line = Readonly<Record<string, unknown>>;

/** The longest `bans.decay`: a line does not have the plans that say when a ban level is forgotten. */
const LONGEST_DECAY = 366 * DAY;

/**
 * A line of a file of format 1, which has no usage, as a line of this version. Its oldest files call
 * counters `ledger`. The line may have any form, which the checks of this version then refuse.
 */
export function upgradeLine(line: Line): Line {
  if (line.type === 'trailer' && isObject(line.counts)) {
    const { ledger, ...counts } = line.counts;
    const old = ledger === undefined ? {} : { counters: ledger };
    return { ...line, counts: { ban: 0, usage: 0, ...counts, ...old } };
  }
  if (line.type !== 'ledger') return line;
  const { conduct, ...rest } = line;
  return { ...rest, type: 'counters', strikeState: strikeStateOf(conduct) };
}

function strikeStateOf(conduct: unknown): unknown {
  if (!isObject(conduct)) return conduct;
  const { refusedAt, refusedUntil, rung, ...rest } = conduct;
  const level = Number(rung);
  const forgottenAt = Number(rest.cleanSince) + (level + 1) * LONGEST_DECAY;
  return {
    ...rest,
    // A wait of another rule: at most, further refusals are not strikes.
    refused: { at: refusedAt, until: refusedUntil, refusals: 0 },
    level: rung,
    forgottenAt: Math.min(forgottenAt, LAST_MOMENT),
  };
}
