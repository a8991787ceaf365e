import { isIP } from 'node:net';
import { plainAddress } from '../../callers/address.ts';
import type { Client } from '../../keys/key.ts';
import type { Exchange } from '../exchange.ts';
import { isReturned, NOT_SHARED, optionsOf } from '../wire/fields.ts';

/**
 * As a flat list, made once, and of strings that V8 keeps in one byte per character: constants that stand in a contract's text
 * too may be shared with it, as two, and every answer would be put together, and converted, in two.
 */
const ONLY_FOR_ITS_KEY: readonly string[] = Object.entries(NOT_SHARED)
  .flat()
  .map((text) => Buffer.from(text, 'latin1').toString('latin1'));

/**
 * The headers of the request to the store, flat: the caller's forwardable headers, then those that only the gateway may set.
 * `Connection: X-Storegate-Account` cannot remove ours: a caller's options apply only to the caller's headers.
 */
export function requestHeaders(
  exchange: Exchange,
  { keyId, account, plan }: Pick<Client, 'keyId' | 'account' | 'plan'>,
): string[] {
  const headers = [...exchange.head.forwardable];
  headers.push('X-Request-Id', exchange.id, 'X-Storegate-Key', keyId, 'X-Storegate-Account', account);
  headers.push('X-Storegate-Plan', plan);
  if (exchange.behindProxy) pushChain(headers, exchange);
  else pushPeer(headers, exchange);
  return headers;
}

/** The three de-facto headers and RFC 7239, for a caller that connects directly; its own forwarding headers are dropped. */
function pushPeer(headers: string[], { address, head }: Exchange): void {
  const host = head.hosts[0];
  headers.push('X-Forwarded-For', address, 'X-Forwarded-Proto', 'http');
  if (host !== undefined) headers.push('X-Forwarded-Host', host);
  headers.push('Forwarded', `for=${node(address)};${origin('http', host)}`);
}

/** The same for a caller behind a trusted proxy: keeps the proxy's headers and adds the proxy to the chain. */
function pushChain(headers: string[], { request, head }: Exchange): void {
  const chain = [...hops(head.forwardedFor), plainAddress(request.socket.remoteAddress)];
  const proto = head.forwardedProto === 'https' ? 'https' : 'http';
  const host = head.forwardedHost ?? head.hosts[0];
  headers.push('X-Forwarded-For', chain.join(', '), 'X-Forwarded-Proto', proto);
  if (host !== undefined) headers.push('X-Forwarded-Host', host);
  headers.push('Forwarded', `${chain.map((hop) => `for=${node(hop)}`).join(', ')};${origin(proto, host)}`);
}

function hops(forwardedFor: string): string[] {
  return forwardedFor
    .split(',')
    .map((hop) => plainAddress(hop.trim()))
    .filter((hop) => isIP(hop) !== 0);
}

/** RFC 7239 section 6: an IPv6 address needs brackets and quotes. */
function node(address: string): string {
  return address.includes(':') ? `"[${address}]"` : address;
}

function origin(proto: string, host: string | undefined): string {
  return host === undefined ? `proto=${proto}` : `proto=${proto};host="${host.replace(/["\\]/g, '')}"`;
}

/** The headers of the store's answer that may reach the caller, flat, with lower-case names. */
export function returnedHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): string[] {
  const list: string[] = [];
  const { connection } = headers;
  const options = connection === undefined || connection === 'keep-alive' ? null : optionsOf(`${connection}`);
  for (const name in headers) {
    if (!isReturned(name) || options?.includes(name)) continue;
    const value = headers[name]!;
    if (typeof value === 'string') list.push(name, value);
    else for (const one of value) list.push(name, one);
  }
  if (!('cache-control' in headers)) list.push(...ONLY_FOR_ITS_KEY);
  return list;
}
