import { isIP } from 'node:net';
import { canonicalAddress, wordsOf } from '../ip.ts';
import { remembered } from '../remembered.ts';
import { createCidrRanges } from './cidr-ranges.ts';

interface TrustedProxies {
  has(address: string): boolean;
}

/** `blocks`: valid CIDR blocks or addresses. */
export function trustedProxies(blocks: readonly string[]): TrustedProxies {
  const ranges = createCidrRanges([blocks]);
  return {
    has(address) {
      const words = wordsOf(address);
      return words !== null && ranges.find(words) !== null;
    },
  };
}

/** One text for each address, so that a client cannot get further counters by another spelling. */
export function plainAddress(address: string | undefined): string {
  return address === undefined ? 'unknown' : canonicalAddress(address);
}

/** `192.0.2.1:80`, `[2001:db8::1]`, `[2001:db8::1]:80` or `[fe80::1%eth0]`. */
const WITH_PORT = /^(?:([\d.]+)|\[([\da-fA-F:.]+(?:%[^\]]*)?)\])(?::\d{1,5})?$/;

function reportedAddress(hop: string): string | null {
  const text = hop.trim();
  const [, ipv4, ipv6] = WITH_PORT.exec(text) ?? [];
  if (ipv6 !== undefined && isIP(ipv6) !== 6) return null;
  const address = plainAddress(ipv4 ?? ipv6 ?? text);
  return isIP(address) === 0 ? null : address;
}

/**
 * Nearest hop last. Stops at the first invalid entry from the right, because nothing left of it can
 * be trusted. Ignores empty entries (RFC 9110 section 5.6.1).
 */
export function reportedHops(forwardedFor: string): string[] {
  const entries = forwardedFor
    .split(',')
    .filter((entry) => entry.trim() !== '');
  const hops: string[] = [];
  for (
    let hop = reportedAddress(entries.pop() ?? '');
    hop !== null;
    hop = reportedAddress(entries.pop() ?? '')
  )
    hops.unshift(hop);
  return hops;
}

/**
 * The first address from the right of X-Forwarded-For that is not a trusted proxy. The client may
 * have forged everything further left.
 */
export function clientAddress(
  peer: string,
  forwardedFor: string,
  proxies: TrustedProxies,
): string {
  let client = peer;
  const hops = reportedHops(forwardedFor);
  while (hops.length > 0 && proxies.has(client)) client = hops.pop()!;
  return client;
}

/**
 * The unit of one client: an IPv4 address, or the /64 of an IPv6 subscriber (RFC 6177). `address`:
 * see `plainAddress`.
 */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const groups = wordsOf(address)!
    .slice(0, 2)
    .flatMap((word) => [word >>> 16, word & 0xffff]);
  return `${groups.map((group) => group.toString(16)).join(':')}::/64`;
}

const blocksOf = remembered(trustedProxies);

export function isAmong(list: readonly string[], address: string): boolean {
  return blocksOf(list).has(address);
}
