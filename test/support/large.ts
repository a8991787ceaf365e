/**
 * A file of more than 2,500 tokens, or a function of more than 400 of its own, and why it is in one
 * piece.
 */
export interface Large {
  readonly tokens: number;
  readonly reason: string;
}

const large = (tokens: number, reason: string): Large => ({ tokens, reason });

/** By path. */
export const LARGE_FILES: Readonly<Record<string, Large>> = {
  'admin-api/generated/types.ts': large(
    5_757,
    'generated: the types of the admin API, from its contract',
  ),
  'http1/client-connection.ts': large(2_950, 'one connection to a backend, in its states'),
  'http1/server-connection.ts': large(
    3_003,
    'one state machine: a connection of a client, with its deadlines',
  ),
};

/** By path and name. */
export const LARGE_FUNCTIONS: Readonly<Record<string, Large>> = {
  'gateway/wire/head.ts readHead': large(
    508,
    'one pass over the headers of each request: a call for each would cost it time',
  ),
};
