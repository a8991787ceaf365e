import { type FieldLines, oneByte } from '@storegate/http1';
import type { Exchange } from '../exchange.ts';

export type AddTiming = (lines: FieldLines, exchange: Exchange) => void;

const SERVER_TIMING = oneByte('Server-Timing');
const ALLOW_ORIGIN = oneByte('Timing-Allow-Origin');

/**
 * W3C Server-Timing, in milliseconds. Only for valid keys: the time to reject a key must not be
 * revealed. `origins`: CORS origins whose pages may read it.
 */
export function createTiming(origins: readonly string[]): AddTiming {
  const any = origins.includes('*');
  const allowed = new Set(origins);

  return (lines, exchange) => {
    const {
      startedAt,
      authenticatedAt,
      admittedAt,
      forwardedAt,
      respondedAt,
      head,
    } = exchange;
    if (authenticatedAt === 0) return;
    let text = entry('auth', startedAt, authenticatedAt);
    if (admittedAt > 0)
      text += `, ${entry('admit', authenticatedAt, admittedAt)}`;
    if (forwardedAt > 0) text += `, ${entry('check', admittedAt, forwardedAt)}`;
    if (respondedAt > 0)
      text += `, ${entry('backend', forwardedAt, respondedAt)}`;
    lines.addKnown(
      SERVER_TIMING,
      `${text}, ${entry('total', startedAt, performance.now())}`,
    );
    if (head.origin !== undefined && (any || allowed.has(head.origin)))
      lines.add(ALLOW_ORIGIN, any ? '*' : head.origin);
  };
}

function entry(name: string, from: number, to: number): string {
  return `${name};dur=${(to - from).toFixed(2)}`;
}
