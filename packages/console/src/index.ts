export type * from './admin-api.ts';
export type * from './calls.ts';
export { CONSOLE_PATH, createConsole } from './console.ts';
