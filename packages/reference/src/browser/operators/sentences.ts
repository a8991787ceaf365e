import type { Operation } from '../contract.ts';

/** What an operator should know of an operation before they call it. */
export function sentences(operation: Operation): string[] {
  return [
    `Needs a token of the role ${operation['x-role']}${operation['x-role'] === 'admin' ? '' : ', or of a higher one'}.`,
    ...(operation['x-try-it'] === false
      ? ['It cannot be tried from this page: the console and the command line ask before they act.']
      : []),
  ];
}
