import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

// Not a literal, because its types would bring those of the DOM into all tests.
const MODULE = '../src/browser/parts/markdown.ts';
const { Markdown } = await import(MODULE);

interface Node {
  readonly type: string;
  readonly props: Readonly<Record<string, unknown>>;
}

/** Elements as markup, texts with escaped angle brackets. */
function markup(node: unknown): string {
  if (Array.isArray(node)) return node.map(markup).join('');
  if (typeof node !== 'object') return String(node ?? '').replaceAll('<', '&lt;');
  if (node === null) return '';
  const { type, props } = node as Node;
  const { children, class: _, tabIndex: __, rel: ___, ...others } = props;
  const attributes = Object.entries(others).filter(([, value]) => value !== undefined);
  const text = attributes.map(([name, value]) => ` ${name}="${value}"`).join('');
  return `<${type}${text}>${markup(children)}</${type}>`;
}

const drawn = (text: string) => markup(Markdown({ text })).replace(/^<div>|<\/div>$/g, '');

describe('a description', () => {
  test.each([
    ['one\ntwo', '<p>one\ntwo</p>'],
    ['# Title', '<p><strong>Title</strong></p>'],
    [
      '**a** _b_ ~~c~~ `d<e`',
      '<p><strong>a</strong> <em>b</em> <del>c</del> <code>d&lt;e</code></p>',
    ],
    ['- a\n- b', '<ul><li>a</li><li>b</li></ul>'],
    ['3. a', '<ol start="3"><li>a</li></ol>'],
    ['> a', '<blockquote><p>a</p></blockquote>'],
    ['```\na < b\n```', '<pre><code>a &lt; b</code></pre>'],
    [
      '|a|b|\n|-|-|\n|1|2|',
      '<div><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table></div>',
    ],
    ['a &amp; b &lt;c&gt; &#8364;', '<p>a & b &lt;c> €</p>'],
    ['a<br>b', '<p>a<br></br>b</p>'],
    ['[a](https://x.example)', '<p><a href="https://x.example">a</a></p>'],
    [
      '[a](#limits) <mailto:a@b.example>',
      '<p><a href="#limits">a</a> <a href="mailto:a@b.example">mailto:a@b.example</a></p>',
    ],
    ['https://x.example/y', '<p><a href="https://x.example/y">https://x.example/y</a></p>'],
  ])('of %j is drawn', (text, expected) => {
    expect(drawn(text)).toBe(expected);
  });

  test.each([
    '<script>alert(1)</script>',
    'a <img src=x onerror=alert(1)> b',
    '<a href="https://x.example">a</a>',
    '[a](javascript:alert(1))',
    '[a](JaVaScRiPt:alert(1))',
    '[a](&#106;avascript:alert(1))',
    '[a](data:text/html,x)',
    '[a](//x.example)',
    '![a](https://x.example/pixel.png)',
  ])('of %j makes neither HTML nor a link', (text) => {
    expect(drawn(text).replace(/<\/?p>/g, '')).not.toContain('<');
  });

  const ELEMENTS =
    /^<\/?(?:p|strong|em|del|code|pre|ul|ol|li|blockquote|table|thead|tbody|tr|th|td|div|br|hr|a)\b/;

  test('has only elements without behaviour, whatever it is', () => {
    const pieces = fc.constantFrom(
      '<a',
      '<b onclick=x>',
      '](',
      '[',
      '`',
      '**',
      '\n',
      '- ',
      '|',
      '&lt;',
      'javascript:',
      'x',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (parts) => {
        const result = drawn(parts.join(''));
        for (const [tag] of result.matchAll(/<[^>]*>/g)) expect(tag).toMatch(ELEMENTS);
        expect(result).not.toMatch(/href="(?!https?:|mailto:|#)/i);
      }),
    );
  });
});
