import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type IdlePlace, inOrderOfEnd } from '../../../src/gateway/wire/idle-order.ts';

interface Given extends IdlePlace {
  readonly name: string;
}

const network = (open: number) => ({ open });
const alone = network(1);

function place(name: string, since: number, more: Partial<Given> = {}): Given {
  return { name, since, isKnown: false, isProxy: false, network: alone, ...more };
}

const large = network(3);
const many = network(100);

test.each<[rule: string, given: Given[], order: string]>([
  ['the longest idle first', [place('new', 9), place('old', 1), place('mid', 5)], 'old mid new'],
  [
    'without a key first, however new',
    [place('keyed', 1, { isKnown: true }), place('none', 9)],
    'none keyed',
  ],
  [
    'of the network that holds most first, however new',
    [place('single', 1, { network: network(1) }), place('one of three', 9, { network: large })],
    'one of three, single',
  ],
  [
    'two networks in turn once they hold the same',
    [
      ...[1, 2, 3].map((since) => place(`a${since}`, since, { network: large })),
      ...[4, 5].map((since) => place(`b${since}`, since, { network: network(2) })),
    ].map((one, _i, all) =>
      one.name.startsWith('b') ? { ...one, network: all[3]!.network } : one,
    ),
    'a1 a2 b4 a3 b5',
  ],
  [
    'those without a key of a small network before those with a key of a large one',
    [place('keyed', 1, { isKnown: true, network: many }), place('none', 9)],
    'none keyed',
  ],
  [
    'those of a trusted proxy as those of a network that holds one',
    [
      ...[1, 2].map((since) => place(`p${since}`, since, { isProxy: true, network: many })),
      ...[8, 9].map((since) => place(`c${since}`, since, { network: large })),
    ],
    'c8 c9 p1 p2',
  ],
])('idle connections make room: %s', (_rule, given, order) => {
  const names = inOrderOfEnd(given).map(({ name }) => name);
  expect(names.join(' ')).toBe(order.replaceAll(',', ''));
});

const networks = fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 5 });
const places = networks.chain((busy) => {
  const one = fc.record({
    at: fc.nat({ max: busy.length - 1 }),
    since: fc.integer({ min: -(2 ** 40), max: 2 ** 40 }),
    isKnown: fc.boolean(),
    proxy: fc.nat({ max: 9 }),
  });
  return fc.array(one, { maxLength: 40 }).map((ones) => {
    const all = busy.map((open) => ({ open }));
    for (const { at } of ones) all[at]!.open++;
    return ones.map(({ at, proxy, ...more }, i) => ({
      ...more,
      name: String(i),
      isProxy: proxy === 0,
      network: all[at]!,
    }));
  });
});

/** Ends one after the other, and looks at all of them each time. */
function oneByOne(given: readonly Given[]): Given[] {
  const remaining = [...given];
  const open = new Map<object, number>(given.map(({ network }) => [network, network.open]));
  const holds = ({ isProxy, network }: Given) => (isProxy ? 1 : open.get(network)!);
  const order: Given[] = [];
  while (remaining.length > 0) {
    const [next] = [...remaining].sort(
      (a, b) => Number(a.isKnown) - Number(b.isKnown) || holds(b) - holds(a) || a.since - b.since,
    );
    order.push(next!);
    remaining.splice(remaining.indexOf(next!), 1);
    open.set(next!.network, open.get(next!.network)! - 1);
  }
  return order;
}

test('the order is that of a search before each end', () => {
  const isPlain = (given: readonly Given[]) =>
    new Set(given.map(({ since }) => since)).size === given.length &&
    given.every(({ isProxy }) => !isProxy);
  fc.assert(
    fc.property(
      places.filter(isPlain),
      (given) =>
        void expect(inOrderOfEnd(given).map(({ name }) => name)).toEqual(
          oneByOne(given).map(({ name }) => name),
        ),
    ),
  );
});

test('all are in the order, once, and none with a key before one without', () => {
  fc.assert(
    fc.property(places, (given) => {
      const order = inOrderOfEnd(given);
      expect(new Set(order)).toEqual(new Set(given));
      expect(order).toHaveLength(given.length);
      const kinds = order.map(({ isKnown }) => isKnown);
      expect(kinds).toEqual([...kinds].sort((a, b) => Number(a) - Number(b)));
    }),
  );
});
