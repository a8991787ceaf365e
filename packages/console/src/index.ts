export type * from './admin-api.ts';
export { CONSOLE_PATH, createConsole } from './console.ts';
