import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Document } from '../src/document/document.ts';
import { MAX_DEPTH } from '../src/json.ts';
import { createPlans } from '../src/media/xml/plan.ts';
import { MAX_ATTRIBUTES, MAX_ELEMENTS } from '../src/media/xml/tree.ts';
import { done, load, notesOf, only, problemsOf, short } from './documents.ts';

type Json = Record<string, unknown>;

const operationOf = (schema: Json | null, schemas: Json = {}) => {
  const content = { 'application/xml': schema ? { schema } : {} };
  return only(load({ '/': { post: { requestBody: { content }, responses: done } } }, { schemas }));
};

function checker(schema: Json | null, schemas: Json = {}): (sent: string | Uint8Array) => string[] {
  const rule = operationOf(schema, schemas).body!.media('application/xml')!;
  return (sent) => short(rule.check(typeof sent === 'string' ? Buffer.from(sent) : sent));
}

describe('without a schema', () => {
  const any = checker(null);

  test.each([
    '<a/>',
    '<?xml version="1.0"?><a/>',
    '<?xml version="1.0" encoding="utf-8" standalone="yes"?>\n<!-- c -->\n<a/>\n<!-- d -->\n',
    '\ufeff<a>ü</a>',
    '<a x="1" y=\'2\'>&lt;&gt;&amp;&quot;&apos;&#65;&#x42;</a>',
    '<a xmlns="urn:x" xmlns:p="urn:y"><p:b p:c="1" c="2"/></a>',
    '<a><![CDATA[<b>]]></a>',
    '<a>t<b/>t<!-- c --></a>',
  ])('%s is well-formed', (text) => {
    expect(any(text)).toEqual([]);
  });

  test.each([
    '',
    ' ',
    'a',
    '<a>',
    '<a></b>',
    '<a/><b/>',
    '<a/>x',
    ' <?xml version="1.0"?><a/>',
    '<a x=1/>',
    '<a x="1" x="2"/>',
    '<a x="1"y="2"/>',
    '<a x="<"/>',
    '<a>&b;</a>',
    '<a>& </a>',
    '<a>&#0;</a>',
    '<a>&#xD800;</a>',
    '<a>\x01</a>',
    '<a>\uFFFE</a>',
    '<a>]]></a>',
    '<a><!-- -- --></a>',
    '<1/>',
    '<p:a/>',
    '<a p:x="1"/>',
    '<a xmlns:p=""/>',
    '<a xmlns:xml="urn:x"/>',
    '<a xmlns:p="u" xmlns:q="u" p:x="1" q:x="2"/>',
    '<a:b:c xmlns:a="u"/>',
  ])('%j is not well-formed', (text) => {
    expect(any(text)).toEqual([expect.stringMatching(/^is not well-formed XML/)]);
  });

  test.each([
    ['<!DOCTYPE a><a/>', 'must not have a document type declaration'],
    ['<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', 'must not have a document type declaration'],
    ['<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', 'must not have a document type declaration'],
    ['<?php x?><a/>', 'must not have processing instructions'],
    ['<a><?x?></a>', 'must not have processing instructions'],
    ['<?xml version="1.1"?><a/>', 'must be XML 1.0'],
    ['<a xmlns=" "/>', 'has a namespace that begins or ends with white space'],
    ['<p:a xmlns:p="urn:x&#xA0;"/>', 'has a namespace that begins or ends with white space'],
    ['<?xml version="1.0" encoding="iso-8859-1"?><a/>', 'must be in UTF-8'],
    [
      `<a ${Array.from({ length: MAX_ATTRIBUTES + 1 }, (_, i) => `a${i}=""`).join(' ')}/>`,
      `has more than ${MAX_ATTRIBUTES} attributes`,
    ],
    ['<a>'.repeat(MAX_DEPTH + 1), `is nested deeper than ${MAX_DEPTH} levels`],
    [`<a>${'<a/>'.repeat(MAX_ELEMENTS)}</a>`, `has more than ${MAX_ELEMENTS} elements`],
  ])('%.60s is refused', (text, fault) => {
    expect(any(text)).toEqual([expect.stringContaining(`${fault} (line `)]);
  });

  test('the bounds are within', () => {
    expect(any('<a>'.repeat(MAX_DEPTH) + '</a>'.repeat(MAX_DEPTH))).toEqual([]);
    expect(
      any(`<a ${Array.from({ length: MAX_ATTRIBUTES }, (_, i) => `a${i}=""`).join(' ')}/>`),
    ).toEqual([]);
  });

  test('bytes that are not UTF-8, and UTF-16', () => {
    expect(any(Uint8Array.of(0x3c, 0x61, 0xff, 0x2f, 0x3e))).toEqual(['is not UTF-8']);
    expect(any(Buffer.from('\ufeff<a/>', 'utf16le'))).toEqual(['is not UTF-8']);
    expect(any(Buffer.from('<a/>', 'utf16le'))).toEqual([
      expect.stringContaining('is not well-formed XML'),
    ]);
  });
});

test('a string that says nothing of XML is a whole document', () => {
  const text = checker({ type: 'string', maxLength: 10, pattern: '^<a' });
  expect(text('<a x="1"/>')).toEqual([]);
  expect(text('<a x="12"/>')).toEqual(['must have at most 10 characters']);
  expect(text('<a>')).toEqual(['is not well-formed XML (line 1, column 4)']);
  const bytes = checker({ type: 'string', format: 'binary', maxLength: 5 });
  expect(bytes('<ä/>')).toEqual([]);
  expect(bytes('<ää/>')).toEqual(['must have at most 5 bytes']);
  expect(bytes('<a></b>')).toHaveLength(1);
});

describe('an object', () => {
  const schemas = {
    Pet: {
      type: 'object',
      required: ['name', 'photos'],
      properties: {
        id: { type: 'integer', format: 'int64', xml: { attribute: true } },
        kind: { type: 'string', xml: { attribute: true, name: 'type' } },
        name: { type: 'string', minLength: 1, maxLength: 3 },
        weight: { type: 'number' },
        tame: { type: 'boolean' },
        born: { type: 'string', format: 'date', xml: { name: 'birthday' } },
        owner: { $ref: '#/components/schemas/Owner' },
        photos: { type: 'array', maxItems: 2, items: { type: 'string' } },
        marks: {
          type: 'array',
          xml: { name: 'ignored' },
          items: { type: 'integer', xml: { name: 'mark' } },
        },
        tags: { type: 'array', xml: { wrapped: true }, items: { type: 'integer' } },
        toys: {
          type: 'array',
          xml: { wrapped: true, name: 'box' },
          items: { type: 'object', xml: { name: 'toy' }, properties: { n: { type: 'integer' } } },
        },
        kits: { type: 'array', items: { $ref: '#/components/schemas/Pet' } },
      },
      additionalProperties: false,
      xml: { name: 'pet' },
    },
    Owner: { type: 'object', properties: { n: { type: 'integer' } }, xml: { name: 'person' } },
  };
  const pet = checker({ $ref: '#/components/schemas/Pet' }, schemas);
  const inPet = (text: string, attributes = '') =>
    pet(`<pet${attributes}><name>Tom</name>${text}</pet>`);

  test.each([
    ['', ' id="9223372036854775807" type="cat"'],
    ['<weight>-1.5e3</weight><tame>true</tame><birthday>2028-02-29</birthday>'],
    ['\n  <!-- a comment -->\n  <weight>1</weight>\n'],
    ['<person><n>1</n></person>'],
    ['<photos>a</photos><weight>1</weight><photos>b</photos>'],
    ['<photos/>'],
    ['<mark>1</mark><mark>2</mark>'],
    ['<tags/>'],
    ['<tags> <tags>1</tags> <tags>2</tags> </tags>'],
    ['<box><toy><n>1</n></toy></box>'],
    ['<kits><name>Kit</name><kits><name>Kat</name></kits></kits>'.replaceAll('kits', 'pet')],
  ])('%s fits', (text, attributes = '') => {
    expect(inPet(text, attributes)).toEqual([]);
  });

  test('its text is what CDATA and references make of it', () => {
    expect(pet('<pet><name><![CDATA[<]]></name></pet>')).toEqual([]);
    expect(pet('<pet><name>&lt;&#65;&amp;</name></pet>')).toEqual([]);
    expect(pet('<pet><name>&lt;&#65;&amp;x</name></pet>')).toEqual([
      '/name must have at most 3 characters',
    ]);
  });

  test.each([
    ['', '/id must be an integer', ' id="x"'],
    ['', '/id must have the format int64', ' id="9223372036854775808"'],
    ['<name>x</name>', '/name is given more than once'],
    [
      '',
      '/kind is not written as the contract says: as element or attribute, name, namespace',
      ' kind="cat"',
    ],
    [
      '<id>1</id>',
      '/id is not written as the contract says: as element or attribute, name, namespace',
    ],
    [
      '',
      '/name is not written as the contract says: as element or attribute, name, namespace',
      ' name="x"',
    ],
    [
      '<born>2028-02-29</born>',
      '/born is not written as the contract says: as element or attribute, name, namespace',
    ],
    ['<birthday>2027-02-29</birthday>', '/born must have the format date'],
    ['<weight> 1</weight>', '/weight must be a number'],
    ['<weight>01</weight>', '/weight must be a number'],
    ['<weight/>', '/weight must be a number'],
    ['<tame>1</tame>', '/tame must be true or false'],
    ['<weight unit="kg">1</weight>', '/weight must not have attributes'],
    ['<weight><n>1</n></weight>', '/weight must be text without elements in it'],
    [
      '<weight>1<!-- -->2</weight>',
      '/weight has text in pieces, which readers put together differently',
    ],
    [
      '<weight>1<![CDATA[2]]></weight>',
      '/weight has text in pieces, which readers put together differently',
    ],
    ['text', 'has text between its elements'],
    [
      '<owner><n>1</n></owner>',
      '/owner is not written as the contract says: as element or attribute, name, namespace',
    ],
    ['<person><n>x</n></person>', '/owner/n must be an integer'],
    [
      '<photos>a</photos><photos>b</photos><photos>c</photos>',
      '/photos must have at most 2 entries',
    ],
    ['<mark>1</mark><mark>x</mark>', '/marks/1 must be an integer'],
    [
      '<marks>1</marks>',
      '/marks is not written as the contract says: as element or attribute, name, namespace',
    ],
    ['<tags><tag>1</tag></tags>', '/tags/0 must be an element tags'],
    ['<tags>1</tags>', '/tags has text between its elements'],
    ['<tags x="1"/>', '/tags must not have attributes'],
    ['<tags/><tags/>', '/tags is given more than once'],
    ['<box><toy><n>x</n></toy></box>', '/toys/0/n must be an integer'],
    ['<pet/>', '/kits/0/name is required'],
    [
      '<x:weight xmlns:x="urn:x">1</x:weight>',
      '/x:weight is not written as the contract says: as element or attribute, name, namespace',
    ],
    ['<other/>', '/other is not defined in the contract'],
    ['<other><n>1</n></other>', '/other is not defined in the contract'],
    ['', '/other is not defined in the contract', ' other="x"'],
    ['', '/xml:lang is not defined in the contract', ' xml:lang="en"'],
    [
      '<weight xmlns="urn:x">1</weight>',
      '/weight is not written as the contract says: as element or attribute, name, namespace',
    ],
  ])('%s: %s', (text, fault, attributes = '') => {
    expect(inPet(text, attributes)).toEqual([fault]);
  });

  test('lacks what is required', () => {
    expect(pet('<pet/>')).toEqual(['/name is required']);
  });

  test('has the root that the contract names', () => {
    expect(pet('<Pet><name>Tom</name></Pet>')).toEqual(['must be an element pet']);
    expect(pet('<pet xmlns="urn:x"><name>Tom</name></pet>')).toEqual(['must be an element pet']);
    const named = checker({ $ref: '#/components/schemas/Thing' }, { Thing: { type: 'object' } });
    expect(named('<Thing/>')).toEqual([]);
    expect(named('<thing/>')).toEqual(['must be an element Thing']);
    expect(checker({ type: 'object' })('<whatever/>')).toEqual([]);
  });
});

describe('namespaces', () => {
  const schema = {
    type: 'object',
    xml: { name: 'a', namespace: 'urn:a' },
    properties: {
      b: { type: 'integer' },
      c: { type: 'integer', xml: { namespace: 'urn:c', prefix: 'c' } },
      d: {
        type: 'object',
        xml: { namespace: 'urn:d', prefix: 'd' },
        properties: { e: { type: 'integer' } },
      },
      f: { type: 'integer', xml: { attribute: true, namespace: 'urn:f' } },
      g: { type: 'integer', xml: { prefix: 'g' } },
    },
    additionalProperties: false,
  };
  const check = checker(schema);

  test.each([
    '<a xmlns="urn:a"><b>1</b></a>',
    '<x:a xmlns:x="urn:a"><x:b>1</x:b></x:a>',
    '<a xmlns="urn:a" xmlns:c="urn:c"><c:c>1</c:c></a>',
    '<a xmlns="urn:a"><c xmlns="urn:c">1</c></a>',
    '<a xmlns="urn:a" xmlns:d="urn:d"><d:d><e xmlns="">1</e></d:d></a>',
    '<a xmlns="urn:a" xmlns:p="urn:f" p:f="1"/>',
    '<a xmlns="urn:a" xmlns:g="urn:any"><g:g>1</g:g></a>',
  ])('%s fits', (text) => {
    expect(check(text)).toEqual([]);
  });

  test.each([
    ['<a/>', 'must be an element a in the namespace urn:a'],
    ['<a xmlns="urn:x"/>', 'must be an element a in the namespace urn:a'],
    ['<x:a xmlns:x="urn:a"><b>1</b></x:a>', '/b is not written as'],
    ['<a xmlns="urn:a"><c>1</c></a>', '/c is not written as'],
    ['<a xmlns="urn:a" f="1"/>', '/f is not written as'],
    ['<a xmlns="urn:a"><g>1</g></a>', '/g is not written as'],
    ['<a xmlns="urn:a" xmlns:c="urn:c"><c:c>x</c:c></a>', '/c must be an integer'],
  ])('%s: %s', (text, fault) => {
    expect(check(text)).toEqual([expect.stringContaining(fault)]);
  });
});

describe('members that the contract does not name', () => {
  test('may be anything, also several times', () => {
    const open = checker({ type: 'object', properties: { a: { type: 'integer' } } });
    expect(open('<r x="1"><b/><b>t</b><b y="2"><c>t</c>\n</b><p:b xmlns:p="u"/></r>')).toEqual([]);
    expect(open('<r><constructor/><__proto__/></r>')).toEqual([]);
    expect(open('<r><b>text <i>and</i> elements</b></r>')).toEqual([]);
  });

  test('must fit additionalProperties', () => {
    const numbers = checker({ type: 'object', additionalProperties: { type: 'integer' } });
    expect(numbers('<r x="1"><b>2</b></r>')).toEqual([]);
    expect(numbers('<r x="y"><b>2</b></r>')).toEqual(['/x must be an integer']);
    expect(numbers('<r><b>y</b></r>')).toEqual(['/b must be an integer']);
    expect(numbers('<r><b>1</b><b>2</b></r>')).toEqual(['/b is given more than once']);
  });
});

test('a list may be the root', () => {
  const list = checker({
    type: 'array',
    maxItems: 2,
    items: { type: 'integer', xml: { name: 'n' } },
  });
  expect(list('<ns><n>1</n><n>2</n></ns>')).toEqual([]);
  expect(list('<ns><n>1</n><m>2</m></ns>')).toEqual(['/1 must be an element n']);
  expect(list('<ns><n>x</n></ns>')).toEqual(['/0 must be an integer']);
  expect(list('<ns><n>1</n><n>2</n><n>3</n></ns>')).toEqual(['must have at most 2 entries']);
});

test('a schema may be combined from others', () => {
  const schemas = {
    Base: {
      type: 'object',
      required: ['id'],
      properties: { id: { type: 'integer', xml: { attribute: true } } },
    },
    Cat: {
      allOf: [
        { $ref: '#/components/schemas/Base' },
        { type: 'object', properties: { n: { type: 'integer' } } },
      ],
    },
    Dog: {
      allOf: [
        { $ref: '#/components/schemas/Base' },
        { type: 'object', required: ['m'], properties: { m: { type: 'integer' } } },
      ],
    },
  };
  const cat = checker({ $ref: '#/components/schemas/Cat' }, schemas);
  expect(cat('<Cat id="1"><n>1</n></Cat>')).toEqual([]);
  expect(cat('<Cat><n>x</n></Cat>').sort()).toEqual(['/id is required', '/n must be an integer']);
  const both = checker(
    { anyOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }] },
    schemas,
  );
  expect(both('<x id="1"><n>1</n></x>')).toEqual([]);
  expect(both('<x id="1"><n>x</n></x>')).not.toEqual([]);
});

test.each<[what: string, schema: Json, why: string]>([
  [
    'an attribute that is an object',
    { type: 'object', properties: { a: { type: 'object', xml: { attribute: true } } } },
    'a is an attribute, but an object or a list',
  ],
  [
    'an attribute that is a list',
    {
      type: 'object',
      properties: { a: { type: 'array', items: { type: 'string' }, xml: { attribute: true } } },
    },
    'a is an attribute, but an object or a list',
  ],
  [
    'lists in a list',
    {
      type: 'object',
      properties: { a: { type: 'array', items: { type: 'array', items: { type: 'string' } } } },
    },
    'a is a list of lists without their own elements',
  ],
])('%s cannot be checked', (_what, schema, why) => {
  expect(problemsOf(() => void operationOf(schema) as never)).toEqual([
    expect.stringContaining(`bodies of type application/xml cannot be checked: ${why}`),
  ]);
});

test('no document, however damaged, makes the check fail', () => {
  const check = checker({
    type: 'object',
    properties: {
      a: { type: 'array', items: { type: 'integer' } },
      b: { type: 'object', additionalProperties: {} },
      c: { type: 'string', xml: { attribute: true } },
    },
  });
  const good = Buffer.from(
    '<?xml version="1.0"?>\n<r c="1" xmlns:p="urn:p"><a>1</a><a>&#50;</a><b p:x="y"><p:d><![CDATA[t]]></p:d><!-- c --></b></r>',
  );
  expect(check(good)).toEqual([]);
  const damage = fc.tuple(
    fc.nat(good.length - 1),
    fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('<>&"\'/!?-[]: ='))),
  );
  fc.assert(
    fc.property(
      fc.array(damage, { minLength: 1, maxLength: 4 }),
      fc.nat(good.length),
      (damages, end) => {
        const hurt = Buffer.from(end % 3 === 0 ? good.subarray(0, end) : good);
        for (const [at, byte] of damages) if (at < hurt.length) hurt[at] = byte;
        for (const fault of check(hurt)) expect(fault).not.toBe('');
      },
    ),
    { numRuns: 2000 },
  );
});

test('answers in XML are checked too', () => {
  const content = {
    'application/xml': { schema: { type: 'object', properties: { a: { type: 'integer' } } } },
  };
  const operation = only(
    load({ '/': { get: { responses: { 200: { description: 'Done.', content } } } } }),
  );
  expect(
    short(operation.checkResponse(200, 'application/xml', Buffer.from('<r><a>x</a></r>'))),
  ).toEqual(['/a must be an integer']);
});

test('a schema is looked through in steps, and what is known to be good is not looked through again', () => {
  const link = (next: string) => ({
    type: 'object',
    properties: { next: { $ref: `#/components/schemas/${next}` } },
  });
  const schemas: Json = { A: link('B'), B: link('C'), C: { type: 'string' } };
  const plans = createPlans(new Document({ components: { schemas } }), 'request');
  const steps = (name: string) => [...plans.search(schemas[name] as Json)].length;
  expect(steps('B')).toBeGreaterThan(1);
  expect(steps('A')).toBe(1);
  expect(steps('A')).toBe(0);
  schemas.D = { type: 'object', properties: { d: { ...link('A'), xml: { attribute: true } } } };
  expect(plans.complaint(schemas.D as Json)).toBe('d is an attribute, but an object or a list');
});

describe('nodeType of OpenAPI 3.2', () => {
  const read = (properties: Json, openapi = '3.2.0', more: Json = {}) => {
    const schema = {
      type: 'object',
      additionalProperties: false,
      xml: { name: 'a' },
      properties,
      ...more,
    };
    const content = { 'application/xml': { schema } };
    return load(
      { '/': { post: { requestBody: { content }, responses: done } } },
      {},
      undefined,
      openapi,
    );
  };
  const check = (properties: Json, sent: string) =>
    short(only(read(properties)).body!.media('application/xml')!.check(Buffer.from(sent)));
  const list = (nodeType?: string) => ({
    type: 'array',
    items: { type: 'integer' },
    xml: { nodeType },
  });

  test.each<[properties: Json, passes: string, refused: string]>([
    [{ i: { type: 'integer', xml: { nodeType: 'attribute' } } }, '<a i="1"/>', '<a><i>1</i></a>'],
    [{ i: { type: 'integer', xml: { nodeType: 'element' } } }, '<a><i>1</i></a>', '<a i="1"/>'],
    [{ i: list('element') }, '<a><i><i>1</i><i>2</i></i></a>', '<a><i>1</i><i>2</i></a>'],
    [{ i: list('none') }, '<a><i>1</i><i>2</i></a>', '<a><i><i>1</i></i></a>'],
    [{ i: list() }, '<a><i>1</i><i>2</i></a>', '<a><i><i>1</i></i></a>'],
  ])('%j takes %s and refuses %s', (properties, passes, refused) => {
    expect(check(properties, passes)).toEqual([]);
    expect(check(properties, refused)).not.toEqual([]);
  });

  test.each<[properties: Json, message: string, more?: Json]>([
    [{ i: { type: 'string', xml: { nodeType: 'text' } } }, 'xml.nodeType text is not supported'],
    [{ i: { type: 'string', xml: { nodeType: 'cdata' } } }, 'xml.nodeType cdata is not supported'],
    [{ i: { type: 'object', xml: { nodeType: 'none' } } }, 'xml.nodeType none is not supported'],
    [{ i: list('text') }, 'xml.nodeType text is not supported'],
    [{ i: list('attribute') }, 'xml.nodeType attribute is not supported'],
    [
      { i: { xml: { nodeType: 'attr' } } },
      'xml.nodeType must be element, attribute, text, cdata or none',
    ],
    [
      { i: { xml: { nodeType: 'element', attribute: true } } },
      'xml.nodeType cannot be combined with attribute',
    ],
    [
      { i: { properties: { j: { xml: { nodeType: 'text' } } } } },
      'xml.nodeType text is not supported',
    ],
    [{}, 'xml.nodeType cdata is not supported', { xml: { nodeType: 'cdata' } }],
  ])('%j is a mistake: %s', (properties, message, more = {}) => {
    const problems = problemsOf(() => read(properties, '3.2.0', more));
    expect(problems).toEqual([expect.stringContaining(message)]);
    expect(problems[0]).toMatch(/^\d+:\d+ .*application~1xml: /);
  });

  test.each(['3.0.3', '3.1.0'])('is a note in %s, which does not have it', (openapi) => {
    const contract = read({ i: { type: 'integer', xml: { nodeType: 'attribute' } } }, openapi);
    expect(notesOf(contract)).toEqual([
      expect.stringMatching(/^nodeType is not a field that OpenAPI 3.[01] has here/),
    ]);
    expect(
      short(only(contract).body!.media('application/xml')!.check(Buffer.from('<a><i>1</i></a>'))),
    ).toEqual([]);
  });
});
