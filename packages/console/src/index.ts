export { CONSOLE_PATH, createConsole } from './console.ts';
