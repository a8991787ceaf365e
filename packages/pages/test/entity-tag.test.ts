import { describe, expect, test } from '@jest/globals';
import { entityTag, hasTag } from '../src/entity-tag.ts';

const tag = entityTag('a text');
const weak = `W/${tag}`;

describe('an entity tag', () => {
  test('is of the very bytes', () => {
    expect(tag).toMatch(/^"[\w-]{27}"$/);
    expect(entityTag(Buffer.from('a text'))).toBe(tag);
    expect(entityTag('another text')).not.toBe(tag);
  });
});

describe('If-None-Match', () => {
  test.each([
    ['anything', '*'],
    ['anything, with spaces', ' * '],
    ['the tag', tag],
    ['the tag as a weak one', weak],
    ['a list with it', `"x", ${tag},"y"`],
    ['a list with it as a weak one', `W/"x" ,${weak}`],
    ['a list with empty items', `, ,${tag},`],
    ['a list with a tag that holds a comma', `"a,b", ${tag}`],
  ])('has it: %s', (_what, header) => {
    expect(hasTag(header, tag)).toBe(true);
    expect(hasTag(header, weak)).toBe(true);
  });

  test.each([
    ['nothing', undefined],
    ['an empty list', ''],
    ['other tags', '"x", W/"y"'],
    ['a star as a tag', '"*"'],
    ['a star inside of a tag', '"a,*,b"'],
    ['a tag inside of another', `"x${tag.slice(1)}`],
    ['the tag without its quotes', tag.slice(1, -1)],
    ['a small w', `w/"x"`],
  ])('has it not: %s', (_what, header) => {
    expect(hasTag(header, tag)).toBe(false);
    expect(hasTag(header, weak)).toBe(false);
  });
});
