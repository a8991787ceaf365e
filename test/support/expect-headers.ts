import { expect } from '@jest/globals';
import { CATALOGUE, type Code } from '../../src/common/errors/catalogue.ts';
import type { Response } from './client.ts';

const FORMS: Readonly<Record<string, RegExp>> = {
  'x-ratelimit-limit': /^[1-9]\d*$/,
  'x-ratelimit-remaining': /^\d+$/,
  'x-ratelimit-reset': /^\d{10}$/,
  'ratelimit-policy': /^"[^"]+";q=\d+;w=\d+(, "[^"]+";q=\d+;w=\d+)*$/,
  ratelimit: /^"[^"]+";r=\d+;t=\d+(, "[^"]+";r=\d+;t=\d+)*$/,
  'x-request-id': /^[0-9a-f-]{36}$/,
};

/** One expectation, because suites check tens of thousands of responses. */
export function carriesTheHeadersOfEveryAnswer({ headers }: Pick<Response, 'headers'>): void {
  const wrong = Object.entries(FORMS).filter(([name, form]) => !form.test(headers[name] ?? ''));
  expect(wrong.map(([name]) => [name, headers[name]])).toEqual([]);
}

export function isTheError(
  response: Response,
  status: number,
  code: Code,
  { hasReference = true } = {},
): void {
  const { body, headers } = response;
  const help = `</docs/#errors-${code}>; rel="help"`;
  expect({
    status: response.status,
    body,
    type: headers['content-type'],
    hasReference: headers.link?.includes(help) ?? false,
    saysToWait: 'retry-after' in headers,
  }).toEqual({
    status,
    body: expect.objectContaining({ code, status, message: expect.any(String) }),
    type: 'application/json; charset=utf-8',
    hasReference,
    saysToWait: CATALOGUE[code].advice.includes('`Retry-After`'),
  });
  carriesTheHeadersOfEveryAnswer(response);
}
