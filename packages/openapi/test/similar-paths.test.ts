import { expect, test } from '@jest/globals';
import { similarPathsOf } from '../src/similar-paths.ts';

const templates = ['/pets', '/pets/{petId}', '/pets/{petId}/photos', '/store/orders', '/a'];

test.each([
  ['/pet', '/pets'],
  ['/Pets', '/pets'],
  ['/pets/', '/pets'],
  ['/pets/7/fotos', '/pets/{petId}/photos'],
  ['/stor/orders', '/store/orders'],
  ['/store/order', '/store/orders'],
  ['/stor/order', null],
  ['/b', null],
  ['/', null],
  ['/nowhere', null],
  ['/pets/7/photos/1', null],
  [`/${'x'.repeat(300)}`, null],
])('%s is similar to %j', (path, expected) => {
  expect(similarPathsOf(templates, [''])(path)).toBe(expected);
});

test.each([
  ['/pets', '/v1/pets'],
  ['/v1/pet', '/v1/pets'],
])('behind the prefix of a server, %s is similar to %j', (path, expected) => {
  expect(similarPathsOf(templates, ['/v1'])(path)).toBe(expected);
});
