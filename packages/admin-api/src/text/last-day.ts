import type {
  LastDay,
  RefusedUnits,
  SimulatedWindow,
} from '../generated/types.ts';
import { number, plural } from './format.ts';
import type { WriteTime } from './gateways.ts';

// What limits would have done to the requests of the last day, for the console and the command
// line.

export const NO_LAST_DAY = 'No gateway has data of the last 24 hours.';

/** The requests that were simulated. */
export function simulatedRequests(
  { since, requests }: LastDay,
  time: WriteTime,
): string[] {
  const { admitted, refused } = requests;
  return [
    `Each window is simulated separately, with requests admitted since ${time(since!)}.`,
    `The last 24 hours, without the current minute, have ${plural(admitted, 'admitted request')} of this plan.`,
    ...(refused === 0
      ? []
      : [
          `Limits and bans refused ${number(refused)} more; clients would repeat these under larger limits.`,
        ]),
  ];
}

/** What the simulation cannot know. */
export function simulationGaps(
  { since, windows }: LastDay,
  time: WriteTime,
): string[] {
  return [
    ...windows
      .filter(({ counted }) => !counted)
      .map(({ name }) => `The plan has not counted by ${name} so far.`),
    ...windows
      .filter((window) => window.since !== null && window.since > since!)
      .map(
        (window) =>
          `The plan has counted by ${window.name} since ${time(window.since!)} only.`,
      ),
    ...windows
      .filter(({ local }) => local)
      .map(
        ({ name }) =>
          `The use by ${name} is unknown for requests that gateways decided locally during an outage.`,
      ),
    ...windows
      .filter(({ floor, limit }) => floor !== null && floor > limit)
      .map(
        ({ name, floor }) =>
          `Clients that used up to ${number(floor!)} by ${name} may be missing.`,
      ),
  ];
}

export function limitedText(window: SimulatedWindow): string {
  return window.counted
    ? `${number(window.limited)}${isIncomplete(window) ? ' or more' : ''}`
    : 'unknown';
}

/** `12`, `12 to 15`, `12 or more`. */
export function unitsText({ least, most }: RefusedUnits): string {
  if (most === null) return `${number(least)} or more`;
  return least === most ? number(least) : `${number(least)} to ${number(most)}`;
}

const isIncomplete = ({ floor, limit, local }: SimulatedWindow): boolean =>
  local || (floor !== null && floor > limit);
