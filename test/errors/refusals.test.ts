import { expect, test } from '@jest/globals';
import { Refusal } from '../../src/errors/refusals.ts';
import { makeSecret } from '../../src/keys/secret.ts';

test('a refusal masks a key in its message, its reason and its details', () => {
  const secret = makeSecret('live');
  const refusal = new Refusal('invalid_request', {
    message: `The key ${secret} is not valid.`,
    reason: `guessed ${secret.slice(0, 30)}`,
    details: [{ in: 'body', pointer: `/${secret}`, message: `${secret} is not a valid name`, rule: 'type' }],
  });
  const details = [{ in: 'body', pointer: '/sg_…', message: 'sg_… is not a valid name', rule: 'type' }];
  expect(JSON.parse(refusal.body)).toMatchObject({ message: 'The key sg_… is not valid.', details });
  expect(JSON.parse(refusal.problem)).toMatchObject({ detail: 'The key sg_… is not valid.', details });
  expect(refusal).toMatchObject({ message: 'The key sg_… is not valid.', reason: 'guessed sg_…', details });
});
