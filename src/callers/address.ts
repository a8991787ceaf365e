import { BlockList, isIP } from 'node:net';
import { unmapped } from '../common/ip.ts';

/** The networks trusted to report the caller's address. */
export interface TrustedProxies {
  has(address: string): boolean;
}

/** `blocks`: CIDR blocks or single addresses, checked when the configuration was read. */
export function trustedProxies(blocks: readonly string[]): TrustedProxies {
  const list = new BlockList();
  for (const block of blocks) {
    const [network = '', bits] = block.split('/');
    const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(network, family);
    else list.addSubnet(network, Number(bits), family);
  }
  return { has: (address) => blocks.length > 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4') };
}

/** One spelling per address: an IPv4 caller on an IPv6 socket is an IPv4 caller. */
export function plainAddress(address: string | undefined): string {
  return address === undefined ? 'unknown' : unmapped(address);
}

/** `192.0.2.1:80`, `[2001:db8::1]` or `[2001:db8::1]:80`. */
const WITH_PORT = /^(?:([\d.]+)|\[([\da-fA-F:.]+)\])(?::\d{1,5})?$/;

/** An address of X-Forwarded-For, as some proxies write it with brackets or the caller's port; `null`: it is none. */
function reportedAddress(hop: string): string | null {
  const text = hop.trim();
  const [, ipv4, ipv6] = WITH_PORT.exec(text) ?? [];
  if (ipv6 !== undefined && isIP(ipv6) !== 6) return null;
  const address = plainAddress(ipv4 ?? ipv6 ?? text);
  return isIP(address) === 0 ? null : address;
}

/**
 * The addresses of X-Forwarded-For, the nearest hop last, up to the first entry from the right that is not an address: what stands left
 * of it cannot be trusted. Empty entries do not count (RFC 9110 section 5.6.1).
 */
export function reportedHops(forwardedFor: string): string[] {
  const entries = forwardedFor.split(',').filter((entry) => entry.trim() !== '');
  const hops: string[] = [];
  for (let hop = reportedAddress(entries.pop() ?? ''); hop !== null; hop = reportedAddress(entries.pop() ?? ''))
    hops.unshift(hop);
  return hops;
}

/**
 * The caller's address as the trusted proxies report it: X-Forwarded-For read from the right, up to the first address that
 * is not a trusted proxy. The caller may have forged everything further left.
 */
export function callerAddress(peer: string, forwardedFor: string, proxies: TrustedProxies): string {
  let caller = peer;
  const hops = reportedHops(forwardedFor);
  while (hops.length > 0 && proxies.has(caller)) caller = hops.pop()!;
  return caller;
}

/** What counts as one caller: an IPv4 address, or the /64 that an IPv6 subscriber has to itself (RFC 6177). */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail = ''] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const groups = address.includes('::')
    ? [...left, ...new Array(8 - left.length - right.length).fill('0'), ...right]
    : left;
  return `${groups.slice(0, 4).join(':')}::/64`;
}

const blocks = new WeakMap<readonly string[], TrustedProxies>();

/** Whether an address is in one of the CIDR blocks, which were checked when they were set. */
export function isAmong(list: readonly string[], address: string): boolean {
  let block = blocks.get(list);
  if (!block) {
    block = trustedProxies(list);
    blocks.set(list, block);
  }
  return isIP(address) !== 0 && block.has(address);
}
