import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

const patternIn = (file: string, name = 'LIKE_A_KEY') =>
  new RegExp(`${name} =\\s*/(.+)/g?;`).exec(readFileSync(file, 'utf8'))?.[1];

test('the console detects secrets by the same pattern as the gateway', () => {
  const ofGateway = patternIn('src/common/secret-mask.ts')!;
  expect(patternIn('packages/console/src/browser/secrets.ts')).toBe(
    ofGateway.replace(/\(\?:_\[0-9A-Za-z\]\*\)\?$/, ''),
  );
  expect(ofGateway).toMatch(/^\[sS\]\[gG\]_/);
  const token = patternIn('src/records/operators/tokens.ts', 'LIKE_A_TOKEN');
  expect(patternIn('packages/console/src/browser/secrets.ts', 'LIKE_A_TOKEN')).toBe(token);
  expect(token).toMatch(/^sgadmin_/);
});
