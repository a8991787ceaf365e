import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Document } from '../src/document/document.ts';
import { MAX_DEPTH } from '../src/json.ts';
import { createPlans } from '../src/media/xml/plan.ts';
import { MAX_ATTRIBUTES, MAX_ELEMENTS } from '../src/media/xml/tree.ts';
import { bodyChecker, notesOf, problemsOf, ref, responseChecker, taking } from './documents.ts';

type Json = Record<string, unknown>;

const XML = 'application/xml';
const contractOf = (schema: Json | null, schemas: Json = {}) =>
  taking({ [XML]: schema ? { schema } : {} }, { schemas });
const checker = (schema: Json | null, schemas: Json = {}) =>
  bodyChecker(contractOf(schema, schemas), XML);
const integer = { type: 'integer' };
const object = (properties: Json, more: Json = {}) => ({ type: 'object', properties, ...more });

describe('without a schema', () => {
  const any = checker(null);
  const attributes = (count: number) =>
    `<a ${Array.from({ length: count }, (_, i) => `a${i}=""`).join(' ')}/>`;

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
    [attributes(MAX_ATTRIBUTES + 1), `has more than ${MAX_ATTRIBUTES} attributes`],
    ['<a>'.repeat(MAX_DEPTH + 1), `is nested deeper than ${MAX_DEPTH} levels`],
    [`<a>${'<a/>'.repeat(MAX_ELEMENTS)}</a>`, `has more than ${MAX_ELEMENTS} elements`],
  ])('%.60s is refused', (text, fault) => {
    expect(any(text)).toEqual([expect.stringContaining(`${fault} (line `)]);
  });

  test('the bounds are within', () => {
    expect(any('<a>'.repeat(MAX_DEPTH) + '</a>'.repeat(MAX_DEPTH))).toEqual([]);
    expect(any(attributes(MAX_ATTRIBUTES))).toEqual([]);
  });

  test('bytes that are not UTF-8, and UTF-16', () => {
    expect(any(Uint8Array.of(0x3c, 0x61, 0xff, 0x2f, 0x3e))).toEqual(['is not UTF-8']);
    expect(any(Buffer.from('\ufeff<a/>', 'utf16le'))).toEqual(['is not UTF-8']);
    expect(any(Buffer.from('<a/>', 'utf16le'))).toEqual([
      expect.stringContaining('is not well-formed XML'),
    ]);
  });
});

const bytes = { type: 'string', format: 'binary', maxLength: 5 };

test.each<[schema: Json, text: string, ...faults: string[]]>([
  [{ type: 'string', pattern: '^<a' }, '<a x="1"/>'],
  [{ type: 'string', maxLength: 10 }, '<a x="12"/>', 'must have at most 10 characters'],
  [{ type: 'string' }, '<a>', 'is not well-formed XML (line 1, column 4)'],
  [bytes, '<ä/>'],
  [bytes, '<ää/>', 'must have at most 5 bytes'],
  [bytes, '<a><b>', 'is not well-formed XML (line 1, column 7)'],
])('a string that says nothing of XML is a whole document: %j of %s', (schema, text, ...faults) => {
  expect(checker(schema)(text)).toEqual(faults);
});

describe('an object', () => {
  const list = (items: Json, xml: Json = {}) => ({ type: 'array', xml, items });
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
        owner: ref('Owner'),
        photos: { type: 'array', maxItems: 2, items: { type: 'string' } },
        marks: list({ ...integer, xml: { name: 'mark' } }, { name: 'ignored' }),
        tags: list(integer, { wrapped: true }),
        toys: list(object({ n: integer }, { xml: { name: 'toy' } }), {
          wrapped: true,
          name: 'box',
        }),
        kits: { type: 'array', items: ref('Pet') },
      },
      additionalProperties: false,
      xml: { name: 'pet' },
    },
    Owner: object({ n: integer }, { xml: { name: 'person' } }),
  };
  const pet = checker(ref('Pet'), schemas);

  test.each<[text: string, attributes: string, ...faults: string[]]>([
    ['', ' id="9223372036854775807" type="cat"'],
    ['<weight>-1.5e3</weight><tame>true</tame><birthday>2028-02-29</birthday>', ''],
    ['\n  <!-- a comment -->\n  <weight>1</weight>\n', ''],
    ['<person><n>1</n></person>', ''],
    ['<photos>a</photos><weight>1</weight><photos>b</photos>', ''],
    ['<photos/>', ''],
    ['<mark>1</mark><mark>2</mark>', ''],
    ['<tags/>', ''],
    ['<tags> <tags>1</tags> <tags>2</tags> </tags>', ''],
    ['<box><toy><n>1</n></toy></box>', ''],
    ['<pet><name>Kit</name><pet><name>Kat</name></pet></pet>', ''],
    ['', ' id="x"', '/id must be an integer'],
    ['', ' id="9223372036854775808"', '/id must have the format int64'],
    ['<name>x</name>', '', '/name is given more than once'],
    ['<birthday>2027-02-29</birthday>', '', '/born must have the format date'],
    ['<weight> 1</weight>', '', '/weight must be a number'],
    ['<weight>01</weight>', '', '/weight must be a number'],
    ['<weight/>', '', '/weight must be a number'],
    ['<tame>1</tame>', '', '/tame must be true or false'],
    ['<weight unit="kg">1</weight>', '', '/weight must not have attributes'],
    ['<weight><n>1</n></weight>', '', '/weight must be text without elements in it'],
    ...['<!-- -->', '<![CDATA[2]]>'].map((between): [string, string, string] => [
      `<weight>1${between}2</weight>`,
      '',
      '/weight has text in pieces, which readers put together differently',
    ]),
    ['text', '', 'has text between its elements'],
    ['<person><n>x</n></person>', '', '/owner/n must be an integer'],
    ['<photos/><photos/><photos/>', '', '/photos must have at most 2 entries'],
    ['<mark>1</mark><mark>x</mark>', '', '/marks/1 must be an integer'],
    ['<tags><tag>1</tag></tags>', '', '/tags/0 must be an element tags'],
    ['<tags>1</tags>', '', '/tags has text between its elements'],
    ['<tags x="1"/>', '', '/tags must not have attributes'],
    ['<tags/><tags/>', '', '/tags is given more than once'],
    ['<box><toy><n>x</n></toy></box>', '', '/toys/0/n must be an integer'],
    ['<pet/>', '', '/kits/0/name is required'],
    ['<other/>', '', '/other is not defined in the contract'],
    ['<other><n>1</n></other>', '', '/other is not defined in the contract'],
    ['', ' other="x"', '/other is not defined in the contract'],
    ['', ' xml:lang="en"', '/xml:lang is not defined in the contract'],
  ])('with %s and the attributes %j: %s', (text, attributes, ...faults) => {
    expect(pet(`<pet${attributes}><name>Tom</name>${text}</pet>`)).toEqual(faults);
  });

  test.each([
    ['kind', '', ' kind="cat"'],
    ['name', '', ' name="x"'],
    ['id', '<id>1</id>', ''],
    ['born', '<born>2028-02-29</born>', ''],
    ['owner', '<owner><n>1</n></owner>', ''],
    ['marks', '<marks>1</marks>', ''],
    ['x:weight', '<x:weight xmlns:x="urn:x">1</x:weight>', ''],
    ['weight', '<weight xmlns="urn:x">1</weight>', ''],
  ])('is written as the contract says: not %s', (member, text, attributes) => {
    expect(pet(`<pet${attributes}><name>Tom</name>${text}</pet>`)).toEqual([
      `/${member} is not written as the contract says: as element or attribute, name, namespace`,
    ]);
  });

  const named = checker(ref('Thing'), { Thing: { type: 'object' } });

  test.each<[check: typeof pet, text: string, ...faults: string[]]>([
    [pet, '<pet/>', '/name is required'],
    // Its text is what CDATA and references make of it.
    [pet, '<pet><name><![CDATA[<]]></name></pet>'],
    [pet, '<pet><name>&lt;&#65;&amp;</name></pet>'],
    [pet, '<pet><name>&lt;&#65;&amp;x</name></pet>', '/name must have at most 3 characters'],
    [pet, '<Pet><name>Tom</name></Pet>', 'must be an element pet'],
    [pet, '<pet xmlns="urn:x"><name>Tom</name></pet>', 'must be an element pet'],
    [named, '<Thing/>'],
    [named, '<thing/>', 'must be an element Thing'],
    [checker({ type: 'object' }), '<whatever/>'],
  ])('has its members, and the root that the contract names: %#', (check, text, ...faults) => {
    expect(check(text)).toEqual(faults);
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

  test.each<[text: string, ...faults: string[]]>([
    ['<a xmlns="urn:a"><b>1</b></a>'],
    ['<x:a xmlns:x="urn:a"><x:b>1</x:b></x:a>'],
    ['<a xmlns="urn:a" xmlns:c="urn:c"><c:c>1</c:c></a>'],
    ['<a xmlns="urn:a"><c xmlns="urn:c">1</c></a>'],
    ['<a xmlns="urn:a" xmlns:d="urn:d"><d:d><e xmlns="">1</e></d:d></a>'],
    ['<a xmlns="urn:a" xmlns:p="urn:f" p:f="1"/>'],
    ['<a xmlns="urn:a" xmlns:g="urn:any"><g:g>1</g:g></a>'],
    ['<a/>', 'must be an element a in the namespace urn:a'],
    ['<a xmlns="urn:x"/>', 'must be an element a in the namespace urn:a'],
    ['<x:a xmlns:x="urn:a"><b>1</b></x:a>', '/b is not written as'],
    ['<a xmlns="urn:a"><c>1</c></a>', '/c is not written as'],
    ['<a xmlns="urn:a" f="1"/>', '/f is not written as'],
    ['<a xmlns="urn:a"><g>1</g></a>', '/g is not written as'],
    ['<a xmlns="urn:a" xmlns:c="urn:c"><c:c>x</c:c></a>', '/c must be an integer'],
  ])('%s: %s', (text, ...faults) => {
    expect(check(text)).toEqual(faults.map((fault) => expect.stringContaining(fault)));
  });
});

const open = checker(object({ a: integer }));
const others = checker({ type: 'object', additionalProperties: integer });
const list = checker({ type: 'array', maxItems: 2, items: { ...integer, xml: { name: 'n' } } });

test.each<[check: typeof open, text: string, ...faults: string[]]>([
  // Members that the contract does not name may be anything, also several times.
  [open, '<r x="1"><b/><b>t</b><b y="2"><c>t</c>\n</b><p:b xmlns:p="u"/></r>'],
  [open, '<r><constructor/><__proto__/></r>'],
  [open, '<r><b>text <i>and</i> elements</b></r>'],
  // Or must fit additionalProperties.
  [others, '<r x="1"><b>2</b></r>'],
  [others, '<r x="y"><b>2</b></r>', '/x must be an integer'],
  [others, '<r><b>y</b></r>', '/b must be an integer'],
  [others, '<r><b>1</b><b>2</b></r>', '/b is given more than once'],
  // A list may be the root.
  [list, '<ns><n>1</n><n>2</n></ns>'],
  [list, '<ns><n>1</n><m>2</m></ns>', '/1 must be an element n'],
  [list, '<ns><n>x</n></ns>', '/0 must be an integer'],
  [list, '<ns><n>1</n><n>2</n><n>3</n></ns>', 'must have at most 2 entries'],
])(
  'members without a name in the contract, and a list as the root: %#',
  (check, text, ...faults) => {
    expect(check(text)).toEqual(faults);
  },
);

test('a schema may be combined from others', () => {
  const id = { ...integer, xml: { attribute: true } };
  const schemas = {
    Base: object({ id }, { required: ['id'] }),
    Cat: { allOf: [ref('Base'), object({ n: integer })] },
    Dog: { allOf: [ref('Base'), object({ m: integer }, { required: ['m'] })] },
  };
  const cat = checker(ref('Cat'), schemas);
  expect(cat('<Cat id="1"><n>1</n></Cat>')).toEqual([]);
  expect(cat('<Cat><n>x</n></Cat>').sort()).toEqual(['/id is required', '/n must be an integer']);
  const both = checker({ anyOf: [ref('Cat'), ref('Dog')] }, schemas);
  expect(both('<x id="1"><n>1</n></x>')).toEqual([]);
  expect(both('<x id="1"><n>x</n></x>')).not.toEqual([]);
});

const lists = { type: 'array', items: { type: 'array', items: { type: 'string' } } };

test.each<[schema: Json, why: string]>([
  [{ type: 'object', xml: { attribute: true } }, 'a is an attribute, but an object or a list'],
  [{ ...lists.items, xml: { attribute: true } }, 'a is an attribute, but an object or a list'],
  [lists, 'a is a list of lists without their own elements'],
])('%j cannot be checked', (schema, why) => {
  expect(problemsOf(() => contractOf(object({ a: schema })))).toEqual([
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
  const check = responseChecker(object({ a: integer }), {}, XML);
  expect(check('<r><a>x</a></r>')).toEqual(['/a must be an integer']);
});

test('a schema is looked through in steps, and what is known to be good is not looked through again', () => {
  const link = (next: string) => object({ next: ref(next) });
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
    const schema = object(properties, { additionalProperties: false, xml: { name: 'a' }, ...more });
    return taking({ [XML]: { schema } }, { openapi });
  };
  const list = (nodeType?: string) => ({ type: 'array', items: integer, xml: { nodeType } });
  const text = (nodeType: string) => ({ type: 'string', xml: { nodeType } });

  test.each<[properties: Json, passes: string, refused: string]>([
    [{ i: { type: 'integer', xml: { nodeType: 'attribute' } } }, '<a i="1"/>', '<a><i>1</i></a>'],
    [{ i: { type: 'integer', xml: { nodeType: 'element' } } }, '<a><i>1</i></a>', '<a i="1"/>'],
    [{ i: list('element') }, '<a><i><i>1</i><i>2</i></i></a>', '<a><i>1</i><i>2</i></a>'],
    [{ i: list('none') }, '<a><i>1</i><i>2</i></a>', '<a><i><i>1</i></i></a>'],
    [{ i: list() }, '<a><i>1</i><i>2</i></a>', '<a><i><i>1</i></i></a>'],
  ])('%j takes %s and refuses %s', (properties, passes, refused) => {
    const check = bodyChecker(read(properties), XML);
    expect(check(passes)).toEqual([]);
    expect(check(refused)).not.toEqual([]);
  });

  test.each<[properties: Json, message: string, ...more: Json[]]>([
    [{ i: text('text') }, 'xml.nodeType text is not supported'],
    [{ i: text('cdata') }, 'xml.nodeType cdata is not supported'],
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
    [{ i: { properties: { j: text('text') } } }, 'xml.nodeType text is not supported'],
    [{}, 'xml.nodeType cdata is not supported', { xml: { nodeType: 'cdata' } }],
  ])('%j is a mistake: %s', (properties, message, ...[more]) => {
    const problems = problemsOf(() => read(properties, '3.2.0', more));
    expect(problems).toEqual([expect.stringContaining(message)]);
    expect(problems[0]).toMatch(/^\d+:\d+ .*application~1xml: /);
  });

  test.each(['3.0.3', '3.1.0'])('is a note in %s, which does not have it', (openapi) => {
    const contract = read({ i: { ...integer, xml: { nodeType: 'attribute' } } }, openapi);
    expect(notesOf(contract)).toEqual([
      expect.stringMatching(/^nodeType is not a field that OpenAPI 3.[01] has here/),
    ]);
    expect(bodyChecker(contract, XML)('<a><i>1</i></a>')).toEqual([]);
  });
});
