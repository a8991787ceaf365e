import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { publishedDocuments, writeDocuments } from '../src/documents.ts';

const LARGEST = 9223372036854775807n;
const paths = { json: '/json', yaml: '/yaml' };
const own = { host: 'a.example', serversAt: (origin: string) => [{ url: origin }] };

/** `text` makes a document large, whose YAML is written at once. */
test.each(['', 'x'.repeat(100_000)])(
  'both forms are the same document, with every digit',
  async (text) => {
    const root = { a: LARGEST, b: -LARGEST, c: 1e21, d: 1.5, e: '12:30', text };
    const published = writeDocuments(root, []);
    expect(published.yaml === null).toBe(text === '');
    for (const place of [null, own]) {
      const documents = publishedDocuments(published, paths, place);
      const read = async (path: string) =>
        parse(String((await documents.get(path)!({}, [])).body), { intAsBigInt: true });
      const json = await read('/json');
      expect(await read('/yaml')).toEqual(json);
      expect(json).toMatchObject({ a: LARGEST, b: -LARGEST, d: 1.5, e: '12:30' });
      expect(json.servers).toEqual(place === null ? undefined : [{ url: 'http://a.example' }]);
    }
  },
);

test('documents of an API at a host are kept for the usual ports only', async () => {
  const documents = publishedDocuments(writeDocuments({ a: 1 }, []), paths, own);
  const read = async (port: string) => {
    const request = { scheme: 'https', port, acceptEncoding: 'gzip' } as const;
    const { headers, body } = await documents.get('/json')!(request, []);
    return { isPacked: headers.includes('gzip'), body };
  };
  const [first, second] = [await read(''), await read(':443')];
  expect([first.isPacked, second.body === first.body]).toEqual([true, true]);
  const other = await read(':8443');
  expect([other.isPacked, JSON.parse(String(other.body)).servers]).toEqual([
    false,
    [{ url: 'https://a.example:8443' }],
  ]);
  expect(String((await read(':99999')).body)).toBe(String(first.body));
});
