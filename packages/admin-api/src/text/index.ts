// Sentences and labels shared by the console and the command line. Pure functions.
export * from './bans.ts';
export * from './differences.ts';
export * from './findings.ts';
export * from './format.ts';
export * from './gateways.ts';
export * from './health.ts';
export * from './last-day.ts';
export * from './limits.ts';
export * from './outages.ts';
export * from './plans.ts';
export * from './request.ts';
export * from './top.ts';
export * from './traffic.ts';
