import type { LastDay, RefusedParty, RefusedUnits, Trial, TriedWindow } from '@storegate/console';
import { withSilent } from './fleet.ts';
import { card, type Row, table } from './table.ts';

const WINDOWS = ['window', 'limit', 'would have limited', 'refused'] as const;
const PARTIES = ['key', 'account', 'window', 'peak', 'began', 'times', 'refused'] as const;

/** What a plan would change now, and what it would have done in the last day, for a person. */
export function showTrial({ lastDay, ...now }: Trial, colour: boolean): string {
  const told = card(now, colour);
  if (!lastDay) return told;
  return `${told}\n${showLastDay(lastDay, colour)}`;
}

function showLastDay(day: LastDay, colour: boolean): string {
  const { since, requests, windows, parties, gateways } = day;
  if (since === null) return withSilent(['No gateway runs that knows of the last day.'], day);
  const { admitted, refused } = requests;
  const remarks = [
    `Each window by itself, on what was admitted since ${since}. In the last day, without the minute that runs, ${admitted} requests of this plan were admitted.`,
    ...(refused === 0 ? [] : [`Limits and bans refused ${refused} more, which larger limits would let come again.`]),
    ...windows.filter(({ counted }) => !counted).map(({ name }) => `The plan has not counted by ${name} until now.`),
    ...windows
      .filter((window) => window.since !== null && window.since > since)
      .map((window) => `The plan counts by ${window.name} since ${window.since} only.`),
    ...windows.filter(isUnsure).map(({ name, floor }) => `More may have used up to ${floor} of ${name} unnoticed.`),
    ...gateways
      .filter(({ missing }) => missing > 0)
      .map(({ gateway, missing }) => `${gateway}: ${missing} of its workers did not answer.`),
  ];
  return [
    table<string>(WINDOWS, windows.map(rowOf), colour),
    ...(parties.length === 0 ? [] : ['\n', table<string>(PARTIES, parties.flatMap(rowsOf), colour)]),
    withSilent(remarks, day),
  ].join('');
}

const isUnsure = ({ floor, limit }: TriedWindow): boolean => floor !== null && floor > limit;

function rowOf({ name, limit, counted, limited, refused }: TriedWindow): Row<string> {
  return { window: name, limit, 'would have limited': counted ? limited : 'not known', refused: inWords(refused) };
}

function rowsOf({ key, account, windows }: RefusedParty): Row<string>[] {
  return windows.map(({ refused, ...window }) => ({ key, account, ...window, refused: inWords(refused) }));
}

function inWords(refused: RefusedUnits | null): string | null {
  if (refused === null) return null;
  const { least, most } = refused;
  if (most === null) return `${least} or more`;
  return least === most ? String(least) : `${least} to ${most}`;
}
