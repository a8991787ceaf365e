import type { WireFault } from '../../src/wire-error.ts';

/**
 * The expected reading of a message is its first line's parts and its body, `GET / |abc`, followed
 * by `…` while incomplete.
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

export function malformed(what: string, bytes: string): WireCase {
  return { what, bytes, understood: [], fault: 'malformed' };
}

export function faulty(
  what: string,
  fault: WireFault,
  bytes: string,
  ...understood: readonly string[]
): WireCase {
  return { what, bytes, understood, fault };
}

export function head(...lines: readonly string[]): string {
  return `${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
}

export const CHUNKED = 'Transfer-Encoding: chunked';
/** A request that an attacker tries to smuggle. */
export const EVIL = 'GET /evil HTTP/1.1\r\nHost: a\r\n\r\n';
/** Must be read after every valid message, and never after an invalid one. */
export const NEXT = 'GET /next HTTP/1.1\r\nHost: a\r\n\r\n';
