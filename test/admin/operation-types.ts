import type { AdminOperations } from '../../src/admin/call.ts';

const key = (id: string) => ({ name: id, role: 'read', created: '2030-01-01T00:00:00Z' }) as const;

/**
 * Handlers that differ from the contract. Type check only: `npm run check` fails if one of them
 * compiles, because its `@ts-expect-error` is then unused.
 */
export const HANDLERS = {
  revokeToken: async ({ path }) => key(path.name),
  createToken: async ({ body, path, query }) => {
    // @ts-expect-error a misspelt field of the body
    void body.rolle;
    // @ts-expect-error a parameter that the path does not have
    void path.name;
    // @ts-expect-error a parameter that the query does not have
    void query.limit;
    return { ...key(body.name), token: 'secret', first: false };
  },
  listAudit: async ({ query }) => {
    // @ts-expect-error a number of the query that is used as text
    query.limit?.trim();
    return { entries: [], next: null };
  },
} satisfies Partial<AdminOperations>;

export const UNKNOWN = {
  // @ts-expect-error an operation that does not exist
  revokeNothing: async () => ({}),
} satisfies Partial<AdminOperations>;

export const INCOMPLETE = {
  // @ts-expect-error a response without a required field
  listTokens: async () => ({ token: [] }),
} satisfies Partial<AdminOperations>;
