import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { MINUTE, SECOND } from '../../src/common/time.ts';
import { parsePlans } from '../../src/config/plans.ts';
import { freeIn } from '../../src/limits/ban-escalation.ts';
import type { BanEscalation, Window } from '../../src/limits/limits.ts';
import { escalationIn, type Plans } from '../../src/limits/plans.ts';
import { tableRow } from './markdown.ts';

const PLANS = resolve(import.meta.dirname, '../../plans.yaml');

/** A client of evenly spaced requests that never waits, under one fixed window of a plan. */
interface DeafClient {
  readonly plan: string;
  readonly window: Window;
  /** Free refusals of a wait. */
  readonly free: number;
  /** The slowest that is banned, in requests per second: a multiple of `stepOf`. */
  readonly pace: number;
  /** Milliseconds from its first request to the ban, at most; and at twice that pace. */
  readonly bannedWithin: number;
  readonly fasterWithin: number;
}

/** Of each window of the plans, which are at least as long as `bans.window`. */
export function deafClients(plans: Plans): DeafClient[] {
  return [...plans.plans.values()].flatMap((plan) =>
    (plan.windows ?? []).map((window) => deafClient(plan.name, window, escalationIn(plan, plans)!)),
  );
}

function deafClient(plan: string, window: Window, escalation: BanEscalation): DeafClient {
  const free = freeIn(escalation, window.limit);
  const { strikes, grace } = escalation;
  // After the request that opens the window.
  const needed = window.limit + free + strikes - 1;
  const inWait = needed / ((window.span - grace) / SECOND);
  const inRow = (strikes - 1) / (escalation.window / SECOND);
  const pace = roundedUp(Math.max(inWait, inRow));
  const within = (pace: number) => grace + (needed / pace) * SECOND;
  // At the bound the strikes of a wait may be one too few, and those of the next one add to them.
  const waits = inWait > inRow ? 2 : 1;
  const bannedWithin = Math.min(waits * within(pace), waits * window.span);
  return { plan, window, free, pace, bannedWithin, fasterWithin: within(2 * pace) };
}

/** Slow paces are shown in requests per minute, others in tenths of one per second. */
export const stepOf = (pace: number): number => (pace < 2 ? 1 / 60 : 1 / 10);

/** The next step above: at a bound itself the first strike has just ceased to count. */
function roundedUp(pace: number): number {
  const step = stepOf(pace);
  return (Math.floor(pace / step + 1e-9) + 1) * step;
}

function paceText(pace: number): string {
  return pace < 2 ? `${Math.round(pace * 60)} per minute` : `${pace.toFixed(1)} per second`;
}

function durationText(milliseconds: number): string {
  if (milliseconds <= MINUTE) return `${Math.ceil(milliseconds / SECOND)} s`;
  const minutes = Math.ceil(milliseconds / MINUTE);
  return minutes < 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}

/** The table of docs/limits-and-bans.md: all its lines below the head. */
const TABLE = /(?<=\n\| limit \| free refusals \|.*\n\|[-:|]+\n)(?:\|.*\n)*/;

/** docs/limits-and-bans.md with the clients of plans.yaml; other text stays. */
export function withDeafClients(page: string): string {
  if (!TABLE.test(page)) throw new Error('docs/limits-and-bans.md has no table of clients.');
  const plans = parsePlans(readFileSync(PLANS, 'utf8'));
  const rows = deafClients(plans).map(
    ({ plan, window, free, pace, bannedWithin, fasterWithin }) => {
      const limit = `${plan}: ${window.limit.toLocaleString('en-US')} per ${window.name}`;
      const times = [bannedWithin, fasterWithin].map(durationText);
      return `${tableRow([limit, `${free}`, paceText(pace), ...times])}\n`;
    },
  );
  return page.replace(TABLE, rows.join(''));
}
