import type { LastDay, PlanSimulation, RefusedSubject, SimulatedWindow } from '@storegate/console';
import {
  limitedInWords,
  missingWorkers,
  NO_LAST_DAY,
  simulatedRequests,
  simulationGaps,
  unitsInWords,
} from '@storegate/console/words';
import { inSentence, withUnresponsive } from './peers.ts';
import { card, type Row, table } from './table.ts';

const WINDOWS = ['window', 'limit', 'would have limited', 'refused'] as const;
const PARTIES = ['key', 'account', 'window', 'peak', 'began', 'times', 'refused'] as const;

/** What a plan would change now, and what it would have done in the last day, for a person. */
export function printSimulation({ lastDay, ...now }: PlanSimulation, colour: boolean): string {
  const told = card(now, colour);
  if (!lastDay) return told;
  return `${told}\n${showLastDay(lastDay, colour)}`;
}

function showLastDay(day: LastDay, colour: boolean): string {
  const { since, windows, subjects: parties, gateways } = day;
  if (since === null) return withUnresponsive([NO_LAST_DAY], day);
  const remarks = [
    ...simulatedRequests(day, inSentence),
    ...simulationGaps(day, inSentence),
    ...missingWorkers(gateways),
  ];
  return [
    table<string>(WINDOWS, windows.map(rowOf), colour),
    ...(parties.length === 0 ? [] : ['\n', table<string>(PARTIES, parties.flatMap(rowsOf), colour)]),
    withUnresponsive(remarks, day),
  ].join('');
}

function rowOf(window: SimulatedWindow): Row<string> {
  const { name, limit, refused } = window;
  return {
    window: name,
    limit,
    'would have limited': limitedInWords(window),
    refused: refused && unitsInWords(refused),
  };
}

function rowsOf({ key, account, windows }: RefusedSubject): Row<string>[] {
  return windows.map(({ refused, ...window }) => ({ key, account, ...window, refused: unitsInWords(refused) }));
}
