import { expect, test } from '@jest/globals';
import { done, head, problemsOf } from '../../../packages/openapi/test/documents.ts';
import { loadContract } from '../../../src/config/contract/contract.ts';

test('misspelt names of our extensions are refused, and those of other vendors are not', () => {
  const document = {
    ...head,
    'x-store': 'fine',
    'x-gateway-upstream': 'fine',
    'x-unchecked': 'fine',
    tags: [{ name: 'pets', 'x-storegate-Upstream': 'stock' }],
    paths: {
      '/pets': {
        'x-storgate-upstream': 'stock',
        get: {
          operationId: 'pets',
          'x-storegate-uncheked-bodies': true,
          'x-storegate-cache': 60,
          'x-storegate-unchecked-body': false,
          responses: done,
        },
      },
    },
  };
  const text = JSON.stringify(document, null, 1);
  for (const leniency of ['refuse', 'pass'] as const) {
    const problems = problemsOf(() =>
      loadContract(`${import.meta.dirname}/none.json`, { text, onUnsupported: leniency }),
    );
    const unknown = 'is not an extension of storegate';
    expect(problems.map((problem) => problem.replace(/^[0-9:]+ /, ''))).toEqual([
      `/tags/0/x-storegate-Upstream: x-storegate-Upstream ${unknown}: did you mean x-storegate-upstream?`,
      `/paths/~1pets/x-storgate-upstream: x-storgate-upstream ${unknown}: did you mean x-storegate-upstream?`,
      `/paths/~1pets/get/x-storegate-uncheked-bodies: x-storegate-uncheked-bodies ${unknown}: did you mean x-storegate-unchecked-body?`,
      `/paths/~1pets/get/x-storegate-cache: x-storegate-cache ${unknown}: the extensions are x-storegate-unchecked-body and x-storegate-upstream`,
    ]);
  }
});
