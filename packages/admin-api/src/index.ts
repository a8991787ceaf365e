export * from './client.ts';
export { ROUTES, VALUES } from './generated/operations.ts';
export type * from './generated/types.ts';
export * from './http.ts';
export * from './roles.ts';
