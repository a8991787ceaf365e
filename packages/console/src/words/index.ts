// Words shared by the console and the command line. Pure functions.
export { eventsIn } from '../browser/api/events.ts';
export { fromNow, number, percent, plural, span } from '../browser/format.ts';
export * from '../browser/sentences/bans.ts';
export * from '../browser/sentences/differences.ts';
export * from '../browser/sentences/gateways.ts';
export * from '../browser/sentences/last-day.ts';
export * from '../browser/sentences/outages.ts';
export * from '../browser/sentences/plans.ts';
export * from '../browser/sentences/request.ts';
export * from '../browser/sentences/top.ts';
