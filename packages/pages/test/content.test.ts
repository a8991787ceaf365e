import { describe, expect, test } from '@jest/globals';
import { type Content, createContent } from '../src/content.ts';

const TEXT = 'a text that is long enough to be worth compressing, '.repeat(40);

function content(): { content: Content; made: () => number } {
  let made = 0;
  const make = () => {
    made++;
    return TEXT;
  };
  return { content: createContent('text/plain', make), made: () => made };
}

function neverMade(): never {
  throw new Error('it is not needed');
}

const field = (headers: readonly string[], name: string) => headers[headers.indexOf(name) + 1];

describe('a content', () => {
  test('is made and compressed once, and the same bytes are sent each time', async () => {
    const { content: it, made } = content();
    for (const coding of ['br', 'gzip', 'identity']) {
      const pages = await Promise.all([1, 2, 3].map(() => it({ acceptEncoding: coding }, [])));
      expect(new Set(pages.map(({ body }) => body)).size).toBe(1);
    }
    expect(made()).toBe(1);
  });

  test('whose tag is known is not even made for who has it', async () => {
    const it = createContent('text/plain', neverMade, '"known"');
    for (const existing of ['*', 'W/"known"', '"other", "known"']) {
      const { status, headers, body } = await it({ ifNoneMatch: existing }, [
        'Cache-Control',
        'no-cache',
      ]);
      expect([status, body.length]).toEqual([304, 0]);
      expect(headers).toEqual([
        'Cache-Control',
        'no-cache',
        'Vary',
        'Accept-Encoding',
        'ETag',
        'W/"known"',
      ]);
    }
  });

  test('has one tag in all its codings, and is known by it in each', async () => {
    const { content: it } = content();
    const codings = ['br', 'gzip', 'identity'].map((acceptEncoding) => ({ acceptEncoding }));
    const pages = await Promise.all(codings.map((requested) => it(requested, [])));
    const tags = new Set(pages.map(({ headers }) => field(headers, 'ETag')));
    expect(tags.size).toBe(1);
    for (const requested of codings) {
      expect((await it({ ...requested, ifNoneMatch: [...tags][0] }, [])).status).toBe(304);
    }
  });

  test.each([
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['br', 'br'],
    ['gzip, br', 'br'],
    ['GZIP;q=0.5', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['br; q=0.000, gzip;q=0', undefined],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['br;q=0, *', 'gzip'],
    ['zstd, deflate', undefined],
  ])('to who takes %p comes in %p', async (accepted, coding) => {
    const { content: it } = content();
    const { headers } = await it({ acceptEncoding: accepted }, []);
    expect(
      headers.includes('Content-Encoding') ? field(headers, 'Content-Encoding') : undefined,
    ).toBe(coding);
  });
});
