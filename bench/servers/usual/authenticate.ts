import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { admittedKey, refusedKey } from '../environment.ts';

const clients = new Map([
  [hash(admittedKey), { id: 'admitted', plan: 'large' }],
  [hash(refusedKey), { id: 'refused', plan: 'tiny' }],
]);

/** Backends keys only as SHA-256. */
export const authenticate: RequestHandler = (request, response, next) => {
  const client = clients.get(hash(request.get('x-api-key') ?? ''));
  if (client === undefined) {
    response.status(401).json({ code: 'invalid_key', message: 'The key is unknown.', status: 401 });
    return;
  }
  response.locals.client = client;
  next();
};

function hash(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
