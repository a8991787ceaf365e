import { describe, expect, test } from '@jest/globals';
import {
  clientAddress,
  networkOf,
  plainAddress,
  reportedHops,
  trustedProxies,
} from '../../../src/common/clients/address.ts';

describe('the caller behind proxies', () => {
  const proxies = trustedProxies(['10.0.0.0/8', '192.0.2.1', '2001:db8::/32']);

  test.each([
    ['203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['10.1.2.3', '', '10.1.2.3'],
    ['10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['10.1.2.3', '198.51.100.1, 192.0.2.1,10.9.9.9', '198.51.100.1'],
    ['10.1.2.3', ' , 198.51.100.1 , , 10.9.9.9,,', '198.51.100.1'],
    ['10.1.2.3', '198.51.100.1, nonsense', '10.1.2.3'],
    ['10.1.2.3', '10.4.4.4', '10.4.4.4'],
    ['2001:db8::5', '2001:db9::1', '2001:db9::1'],
    ['10.1.2.3', '::ffff:198.51.100.1', '198.51.100.1'],
    ['10.1.2.3', '198.51.100.1:4711', '198.51.100.1'],
    ['10.1.2.3', '[2001:db9::1]:4711', '2001:db9::1'],
    ['10.1.2.3', '[198.51.100.1]', '10.1.2.3'],
    ['10.1.2.3', '198.51.100.1:', '10.1.2.3'],
    ['10.1.2.3', '198.51.100.1:123456', '10.1.2.3'],
    ['10.1.2.3', '[]:1', '10.1.2.3'],
    ['10.1.2.3', '2001:DB9:0:0:0:0:0:1', '2001:db9::1'],
    ['10.1.2.3', '2001:db9::1%eth0', '2001:db9::1'],
    ['2001:0DB8::0:5', '198.51.100.1', '198.51.100.1'],
  ])('from %s with "%s" is %s', (peer, forwardedFor, caller) => {
    expect(clientAddress(peer, forwardedFor, proxies)).toBe(caller);
  });

  test('is the peer if no block is trusted', () => {
    expect(clientAddress('127.0.0.1', '198.51.100.1', trustedProxies([]))).toBe('127.0.0.1');
  });
});

test.each([
  ['', []],
  ['198.51.100.1', ['198.51.100.1']],
  ['203.0.113.9, 198.51.100.1:80,', ['203.0.113.9', '198.51.100.1']],
  ['203.0.113.9, unknown, 198.51.100.1', ['198.51.100.1']],
  ['203.0.113.9, unknown', []],
])('"%s" has the hops %j', (forwardedFor, hops) => {
  expect(reportedHops(forwardedFor)).toEqual(hops);
});

test.each([
  ['::ffff:127.0.0.1', '127.0.0.1'],
  ['0:0:0:0:0:ffff:127.0.0.1', '127.0.0.1'],
  ['::ffff:0:127.0.0.1', '::ffff:0:7f00:1'],
  ['FE80::1%eth0', 'fe80::1'],
  ['::ffff:1', '::ffff:1'],
  ['::ffff:nonsense', '::ffff:nonsense'],
  ['127.0.0.1', '127.0.0.1'],
  ['::1', '::1'],
  [undefined, 'unknown'],
])('%s is written %s', (address, plain) => {
  expect(plainAddress(address)).toBe(plain);
});

test.each([
  ['198.51.100.7', '198.51.100.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['::1', '0:0:0:0::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
])('%s counts as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
