import { h } from 'preact';
import { number } from '../format.ts';

interface MeterProps {
  /** What is measured, for people who do not see the row that it is in. */
  readonly label: string;
  readonly used: number;
  readonly limit: number;
}

/** How much of a limit is used, as a bar and in figures. */
export function Meter({ label, used, limit }: MeterProps) {
  const full = used >= limit;
  return h('div', { class: 'meter' }, [
    // Beyond `high` browsers draw it in another colour; the figures say the same.
    h('meter', {
      'aria-label': label,
      min: 0,
      max: limit,
      high: limit * 0.8,
      optimum: 0,
      value: Math.min(used, limit),
    }),
    h('span', null, `${number(used)} of ${number(limit)}${full ? ' · used up' : ''}`),
  ]);
}
