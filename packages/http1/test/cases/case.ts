import type { WireFault } from '../../src/wire-error.ts';

/**
 * Bytes, and what the reader must make of them. A message is written as its first line's parts and its body, `GET / |abc`, with
 * `…` behind it while it is not whole.
 */
export interface WireCase {
  readonly what: string;
  readonly bytes: string;
  readonly understood: readonly string[];
  readonly fault: WireFault | null;
}

export function accepted(what: string, bytes: string, ...understood: readonly string[]): WireCase {
  return { what, bytes, understood, fault: null };
}

/** Not a byte of it is understood. */
export function malformed(what: string, bytes: string): WireCase {
  return { what, bytes, understood: [], fault: 'malformed' };
}

/** A fault behind, or inside, what was understood. */
export function faulty(what: string, fault: WireFault, bytes: string, ...understood: readonly string[]): WireCase {
  return { what, bytes, understood, fault };
}

/** Lines with their ends, and the empty line. */
export function head(...lines: readonly string[]): string {
  return `${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
}

export const CHUNKED = 'Transfer-Encoding: chunked';
/** What an attacker wants to be read as a request of its own. */
export const EVIL = 'GET /evil HTTP/1.1\r\nHost: a\r\n\r\n';
/** A good request, which must be understood behind every good message, and never behind a bad one. */
export const NEXT = 'GET /next HTTP/1.1\r\nHost: a\r\n\r\n';
