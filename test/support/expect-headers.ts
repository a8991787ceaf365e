import { expect } from '@jest/globals';
import { CATALOGUE, type Code } from '../../src/common/errors/catalogue.ts';
import type { Response } from './client.ts';

export function carriesTheHeadersOfEveryAnswer({ headers }: Pick<Response, 'headers'>): void {
  expect(headers['x-ratelimit-limit']).toMatch(/^[1-9]\d*$/);
  expect(headers['x-ratelimit-remaining']).toMatch(/^\d+$/);
  expect(headers['x-ratelimit-reset']).toMatch(/^\d{10}$/);
  expect(headers['ratelimit-policy']).toMatch(/^"[^"]+";q=\d+;w=\d+(, "[^"]+";q=\d+;w=\d+)*$/);
  expect(headers.ratelimit).toMatch(/^"[^"]+";r=\d+;t=\d+(, "[^"]+";r=\d+;t=\d+)*$/);
  expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
}

export function isTheError(
  response: Response,
  status: number,
  code: Code,
  { hasReference = true } = {},
): void {
  expect({ status: response.status, body: response.body }).toEqual({
    status,
    body: expect.objectContaining({ code, status, message: expect.any(String) }),
  });
  expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  const help = `</docs/#errors-${code}>; rel="help"`;
  expect(response.headers.link?.includes(help) ?? false).toBe(hasReference);
  const saysToWait = CATALOGUE[code].advice.includes('`Retry-After`');
  expect('retry-after' in response.headers).toBe(saysToWait);
  carriesTheHeadersOfEveryAnswer(response);
}
