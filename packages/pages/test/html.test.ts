import { expect, test } from '@jest/globals';
import { html, withCode } from '../src/index.ts';

test('markup escapes every value that is not markup', () => {
  expect(html`<p title="${'"<&\'>'}">${html`<b>${'<i>'}</b>`}${null}${7}</p>`.text).toBe(
    '<p title="&#34;&#60;&#38;&#39;&#62;"><b>&#60;i&#62;</b>7</p>',
  );
});

test('text between backticks is marked as code', () => {
  const marked = withCode('Wait for `<Retry-After>`.').map(({ text }) => text);
  expect(marked.join('')).toBe('Wait for <code>&#60;Retry-After&#62;</code>.');
});
