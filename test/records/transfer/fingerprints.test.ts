import { expect, test } from '@jest/globals';
import { createFingerprints } from '../../../src/records/transfer/fingerprints.ts';

test('knows every name that it met, and no other, while it grows', () => {
  const names = createFingerprints();
  const added = Array.from({ length: 50_000 }, (_, i) => names.add(`name ${i}`));
  expect(added).not.toContain(false);
  const met = Array.from(
    { length: 50_000 },
    (_, i) => names.has(`name ${i}`) && !names.add(`name ${i}`),
  );
  expect(met).not.toContain(false);
  expect(Array.from({ length: 50_000 }, (_, i) => names.has(`other ${i}`))).not.toContain(true);
});
