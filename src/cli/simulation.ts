import type { LastDay, PlanSimulation } from '@storegate/console';
import {
  limitedInWords,
  missingGateways,
  missingWorkers,
  NO_LAST_DAY,
  simulatedRequests,
  simulationGaps,
  unitsInWords,
} from '@storegate/console/words';
import { inSentence, type Page, type View } from './output.ts';

export const simulationView: View<PlanSimulation> = {
  text: ({ lastDay, ...now }, page) => page.card(now) + (lastDay ? `\n${showLastDay(lastDay, page)}` : ''),
  names: ({ plan }) => [plan],
};

function showLastDay(day: LastDay, page: Page): string {
  const { windows, subjects, gateways } = day;
  if (day.since === null) return page.notes(NO_LAST_DAY, ...missingGateways(day));
  const clients = subjects.flatMap(({ key, account, windows }) =>
    windows.map(({ refused, ...window }) => ({ key, account, ...window, refused: unitsInWords(refused) })),
  );
  return [
    page.table(
      ['window', 'limit', 'would have limited', 'refused'],
      windows.map((window) => ({
        window: window.name,
        limit: window.limit,
        'would have limited': limitedInWords(window),
        refused: window.refused && unitsInWords(window.refused),
      })),
    ),
    clients.length === 0
      ? ''
      : `\n${page.table(['key', 'account', 'window', 'peak', 'began', 'times', 'refused'], clients)}`,
    page.notes(
      ...simulatedRequests(day, inSentence),
      ...simulationGaps(day, inSentence),
      ...missingWorkers(gateways),
      ...missingGateways(day),
    ),
  ].join('');
}
