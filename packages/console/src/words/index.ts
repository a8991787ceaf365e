// What the console and the command line say in the same words. Loads nothing else.
export { eventsIn } from '../browser/api/events.ts';
export * from '../browser/explained.ts';
export * from '../browser/plan-words.ts';
export * from '../browser/stores.ts';
