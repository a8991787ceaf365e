import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { networkOf } from '../../../src/common/clients/address.ts';
import {
  type AddressSubjects,
  createAddressSubjects,
} from '../../../src/common/clients/address-subjects.ts';
import { createAddressWindow } from '../../../src/common/clients/address-window.ts';
import { createCounterQuota, OWN_COUNTERS } from '../../../src/common/clients/counter-quota.ts';
import { remainingIn } from '../../../src/limits/admission.ts';

const MINUTE = 60_000;
const LIMIT = 60;

/** The `i`-th /64 of a /48. */
const within = (network: string, i: number) => `${network}:${i.toString(16)}::1`;
const numbers = <T>(length: number, at: (i: number) => T): T[] =>
  Array.from({ length }, (_, i) => at(i));
const OTHERS = ['2001:db8:2::1', '198.51.100.7'];

/** Every address sends once. Returns the number of subjects. */
function flood(subjects: AddressSubjects, addresses: Iterable<string>): number {
  return new Set(Array.from(addresses, (address) => subjects.of(address))).size;
}

describe('60,000 /64s of one /48', () => {
  const attackers = Array.from({ length: 60_000 }, (_, i) => within('2001:db8:1', i));

  test('leave clients of other networks a subject of their own, and share 64 subjects', () => {
    const subjects = createAddressSubjects(() => 0);
    expect(flood(subjects, attackers)).toBe(OWN_COUNTERS / 50 + 64);
    for (const client of OTHERS) expect(subjects.of(client)).toBe(`address:${networkOf(client)}`);
    expect(subjects.of(within('2001:db8:1', 60_001))).toMatch(
      /^address:shared-2001:db8:1::\/48-\d+$/,
    );
    expect(subjects.of(attackers[0]!)).toBe(`address:${networkOf(attackers[0]!)}`);
  });

  test('leave clients of other networks all their failed attempts and page visits', async () => {
    const { take } = createAddressWindow({
      name: 'failures',
      kind: 'fixed',
      limit: LIMIT,
      span: MINUTE,
    });
    for (const attacker of attackers) await take(attacker);
    for (const client of OTHERS) {
      const remaining = [];
      for (let i = 0; i < LIMIT; i++)
        remaining.push(remainingIn((await take(client)).readings[0]!));
      expect(remaining).toEqual(Array.from({ length: LIMIT }, (_, i) => LIMIT - 1 - i));
    }
    expect((await take(within('2001:db8:1', 60_001))).exhausted).toBe(true);
  });
});

/** The number of each /32 among the counters that all of IPv6 shares. */
function slotOf(address: string): number {
  const quota = createCounterQuota(1);
  quota.take('3fff:0:0:0::/64');
  const [, counter] = /^shared-ipv6-(\d+)$/.exec(quota.sharedBy(networkOf(address))!)!;
  return Math.floor(Number(counter) / 64);
}

/** Of /32s none of which shares its number with `taken` ones. */
function* newNetworks(taken: Iterable<string>): Generator<string> {
  const slots = new Set(Array.from(taken, slotOf));
  for (let i = 0; ; i++) {
    const client = `2a01:${i.toString(16)}:1:1::1`;
    if (slots.has(slotOf(client))) continue;
    slots.add(slotOf(client));
    yield client;
  }
}

describe.each([
  ['one /43', (i: number) => `2001:db8:${i.toString(16)}`],
  ['six /32s', (i: number) => `2001:${(i % 6).toString(16)}:${i.toString(16)}`],
])('26 /48s of %s and a flood of one more', (_, networkAt) => {
  const subjects = createAddressSubjects(() => 0);
  const used = new Set<string>();
  const send = (network: string, clients: number) => {
    for (let i = 0; i < clients; i++) used.add(subjects.of(within(network, i)));
  };
  for (let i = 0; i < 26; i++) send(networkAt(i), 1_200);
  send('2001:0:ff00', 20_000);
  const seen = [...Array.from({ length: 26 }, (_, i) => `${networkAt(i)}::1`), '2001:0:ff00::1'];

  test('leave new clients of other networks an unused counter', () => {
    const clients = newNetworks(seen).take(20).toArray();
    expect(clients.filter((client) => used.has(subjects.of(client)))).toEqual([]);
    expect(subjects.of('198.51.100.7')).toBe('address:198.51.100.7');
  });

  test('are counted with a bounded number of counters', () => {
    expect(used.size).toBeLessThanOrEqual(OWN_COUNTERS / 2 + 27 * 64 + 2 * 1_024);
  });
});

const PREFIXES = [48, 40, 32] as const;
const PARTS = { 48: 1 / 50, 40: 1 / 10, 32: 1 / 5 } as const;

function blockOf(address: string, prefix: 48 | 40 | 32): string {
  const groups = networkOf(address).split(':', prefix === 32 ? 2 : 3);
  if (prefix === 40) groups[2] = (Number.parseInt(groups[2]!, 16) & 0xff00).toString(16);
  return `${groups.join(':')}::/${prefix}`;
}

const hex = (value: number) => value.toString(16);
const ipv4 = fc.nat(40).map((i) => `198.51.100.${i}`);
const ipv6 = fc
  .tuple(fc.nat(4), fc.nat(2), fc.nat(2), fc.nat(20))
  .map(([a, b, c, i]) => within(`2001:${hex(a)}:${hex(b * 256 + c)}`, i));
/** All /64s from the first on. */
const flooding = fc
  .tuple(ipv6, fc.integer({ min: 20, max: 200 }))
  .map(([address, count]) =>
    Array.from({ length: count }, (_, i) => within(address.split(':', 3).join(':'), i)),
  );
const arrivals = fc
  .array(
    fc.oneof(
      fc.oneof(ipv4, ipv6).map((address) => [address]),
      flooding,
    ),
    { maxLength: 60 },
  )
  .map((all) => all.flat());

test('a client shares a counter only with its narrowest block that used up its part', () => {
  fc.assert(
    fc.property(arrivals, fc.integer({ min: 1, max: 300 }), (addresses, most) => {
      const subjects = createAddressSubjects(() => 0, createCounterQuota(most));
      const own = new Set<string>();
      const partOf = (part: number) => Math.max(1, Math.floor(most * part));
      const owners = { ipv4: 0, ipv6: 0 };
      const taken = new Map<string, number>();
      for (const address of addresses) {
        const network = networkOf(address);
        const family = address.includes(':') ? 'ipv6' : 'ipv4';
        const blocks = family === 'ipv4' ? [] : PREFIXES.map((prefix) => blockOf(address, prefix));
        const isFull = (block: string, i: number) =>
          (taken.get(block) ?? 0) === partOf(PARTS[PREFIXES[i]!]);
        const full = own.has(network) ? undefined : blocks.find(isFull);
        const all = owners[family] === partOf(family === 'ipv4' ? 1 : 1 / 2) ? family : undefined;
        const expected = own.has(network) ? undefined : (full ?? all);
        const [, block] = /^address:shared-(.*)-\d+$/.exec(subjects.of(address)) ?? [];
        expect(block).toBe(expected);
        if (block !== undefined || own.has(network)) continue;
        own.add(network);
        owners[family]++;
        for (const one of blocks) taken.set(one, (taken.get(one) ?? 0) + 1);
      }
    }),
  );
});

test('a first request is refused only if the own /32 used its share', () => {
  /** Of the block of another client, or of none. */
  const cases = fc.tuple(arrivals, fc.nat(999), ipv6).map(([addresses, i, other]) => {
    const near = addresses[i % (addresses.length + 1)] ?? other;
    const block = near.includes(':') ? near : other;
    return { addresses, last: `${block.split(':', 3).join(':')}:ffff::1` };
  });
  let refused = 0;
  fc.assert(
    fc.property(cases, fc.integer({ min: 2, max: 60 }), ({ addresses, last }, most) => {
      const networks = [...addresses, last].filter((one) => one.includes(':'));
      const providers = new Set(networks.map((one) => blockOf(one, 32)));
      const slots = new Set([...providers].map((one) => slotOf(one.replace('/32', '1'))));
      fc.pre(slots.size === providers.size);
      const subjects = createAddressSubjects(() => 0, createCounterQuota(most));
      const counts = new Map<string, number>();
      const send = (address: string) => {
        const subject = subjects.of(address);
        const count = (counts.get(subject) ?? 0) + 1;
        counts.set(subject, count);
        return count > 2;
      };
      for (const address of addresses) send(address);
      if (!send(last)) return;
      refused++;
      const own = networks.slice(0, -1).filter((one) => blockOf(one, 32) === blockOf(last, 32));
      expect(own.length).toBeGreaterThanOrEqual(2);
    }),
    { numRuns: 50 },
  );
  expect(refused).toBeGreaterThan(0);
});

test.each([
  // So many clients of other networks use up the part of the block.
  ['2001:db8:1::/48', 64, ['2001:db8:1::1']],
  ['2001:db8:0::/40', 64, numbers(5, (i) => `2001:db8:${i + 2}::1`)],
  ['2001:db8::/32', 64, numbers(10, (i) => `2001:db8:${i + 1}00::1`)],
  ['ipv6', 4, numbers(25, (i) => `2001:${i}:1::1`)],
])('if %s has used up its part, a /48 in it shares %i counters', (block, count, others) => {
  const quota = createCounterQuota(50);
  for (const other of others) quota.take(networkOf(other));
  const reached = new Set(
    numbers(2_000, (i) => quota.sharedBy(networkOf(within('2001:db8:1', i)))),
  );
  expect(reached.size).toBe(count);
  for (const one of reached) expect(one).toContain(`shared-${block}-`);
});

test('each process spreads clients over shared counters in another way', () => {
  const module = resolve(import.meta.dirname, '../../../src/common/clients/counter-quota.ts');
  const script = `
    import { createCounterQuota } from ${JSON.stringify(module)};
    const quota = createCounterQuota(1);
    quota.take('192.0.2.1');
    console.log(Array.from({ length: 64 }, (_, i) => quota.sharedBy('198.51.100.' + i)).join());`;
  const names = () =>
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(names()).not.toBe(names());
});
