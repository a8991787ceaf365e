import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { networkOf } from '../../../src/common/callers/address.ts';
import { AddressSubjects } from '../../../src/common/callers/address-subjects.ts';
import { createCallerWindow } from '../../../src/common/callers/caller-window.ts';
import { CounterQuota, OWN_COUNTERS } from '../../../src/common/callers/counter-quota.ts';

const MINUTE = 60_000;
const LIMIT = 60;

/** The `i`-th /64 of a /48. */
const within = (network: string, i: number) => `${network}:${i.toString(16)}::1`;
const STRANGERS = ['2001:db8:2::1', '198.51.100.7'];

/** Every address sends once. Returns the number of subjects. */
function flood(subjects: AddressSubjects, addresses: Iterable<string>): number {
  return new Set(Array.from(addresses, (address) => subjects.of(address))).size;
}

function* addressesOf(networks: number, each: number) {
  for (let network = 0; network < networks; network++) {
    for (let i = 0; i < each; i++) yield within(`2001:db9:${network.toString(16)}`, i);
  }
}

describe('60,000 /64s of one /48', () => {
  const attackers = Array.from({ length: 60_000 }, (_, i) => within('2001:db8:1', i));

  test('leave strangers of other networks a subject of their own, and share 64 subjects', () => {
    const subjects = new AddressSubjects(() => 0);
    expect(flood(subjects, attackers)).toBe(OWN_COUNTERS / 50 + 64);
    for (const stranger of STRANGERS)
      expect(subjects.of(stranger)).toBe(`address:${networkOf(stranger)}`);
    expect(subjects.of(within('2001:db8:1', 60_001))).toMatch(
      /^address:shared-2001:db8:1::\/48-\d+$/,
    );
    expect(subjects.of(attackers[0]!)).toBe(`address:${networkOf(attackers[0]!)}`);
  });

  test('leave strangers of other networks all their failed attempts and page visits', async () => {
    const { take } = createCallerWindow({
      name: 'failures',
      kind: 'fixed',
      limit: LIMIT,
      span: MINUTE,
    });
    for (const attacker of attackers) await take(attacker);
    for (const stranger of STRANGERS) {
      const left = [];
      for (let i = 0; i < LIMIT; i++) left.push((await take(stranger)).readings[0]!.remaining);
      expect(left).toEqual(Array.from({ length: LIMIT }, (_, i) => LIMIT - 1 - i));
    }
    expect((await take(within('2001:db8:1', 60_001))).exhausted).toBe(true);
  });
});

test('thirty /48s leave half of the counters to IPv4', () => {
  const subjects = new AddressSubjects(() => 0);
  expect(flood(subjects, addressesOf(30, 1_500))).toBeLessThanOrEqual(
    OWN_COUNTERS / 2 + 25 * 64 + 1_024,
  );
  expect(subjects.of('2001:db8:2::1')).toMatch(/^address:shared-ipv6-\d+$/);
  expect(subjects.of('198.51.100.7')).toBe('address:198.51.100.7');
});

const blockOf = (network: string) => `${network.split(':', 3).join(':')}::/48`;
const ipv4 = fc.nat(40).map((i) => `198.51.100.${i}`);
const ipv6 = fc.tuple(fc.nat(3), fc.nat(20)).map(([n, i]) => within(`2001:db8:${n}`, i));
const arrivals = fc.array(fc.oneof(ipv4, ipv6), { maxLength: 200 });

test('a client shares a counter only with a block that used up its part', () => {
  fc.assert(
    fc.property(arrivals, fc.integer({ min: 1, max: 120 }), (addresses, most) => {
      const subjects = new AddressSubjects(() => 0, new CounterQuota(most));
      const own = new Set<string>();
      const owned = (block: string) => [...own].filter((one) => blockOf(one) === block).length;
      const partOf = (part: number) => Math.max(1, Math.floor(most * part));
      for (const address of addresses) {
        const network = networkOf(address);
        const [, block] = /^address:shared-(.*)-\d+$/.exec(subjects.of(address)) ?? [];
        const ofIPv6 = [...own].filter((one) => one.includes(':')).length;
        if (block === undefined) own.add(network);
        else if (block === 'all') expect(own.size).toBe(most);
        else if (block === 'ipv6')
          expect([address.includes(':'), ofIPv6]).toEqual([true, partOf(1 / 2)]);
        else expect([block, owned(block)]).toEqual([blockOf(network), partOf(1 / 50)]);
      }
      expect(own.size).toBeLessThanOrEqual(most);
    }),
  );
});

test('each process spreads clients over shared counters in another way', () => {
  const module = resolve(import.meta.dirname, '../../../src/common/callers/counter-quota.ts');
  const script = `
    import { CounterQuota } from ${JSON.stringify(module)};
    const quota = new CounterQuota(1);
    quota.take('192.0.2.1');
    console.log(Array.from({ length: 64 }, (_, i) => quota.sharedBy('198.51.100.' + i)).join());`;
  const names = () =>
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(names()).not.toBe(names());
});
