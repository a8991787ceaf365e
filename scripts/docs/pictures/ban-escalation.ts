import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DAY, MINUTE } from '../../../src/common/time.ts';
import { parsePlans } from '../../../src/config/plans.ts';
import { formatDuration } from '../../../src/config/units.ts';
import { box, line, picture, text } from './svg.ts';

const WIDTH = 860;
const LEFT = 90;
const LONGEST = 330;
const RIGHT = 520;
const ROW = 30;
const TOP = 40;

/** How bans grow longer, and how the level falls again, with the shipped settings. */
export function banEscalation(): string {
  const file = join(import.meta.dirname, '../../../plans.yaml');
  const { escalation } = parsePlans(readFileSync(file, 'utf8'));
  const { durations, decay } = escalation!;
  const height = TOP + durations.length * ROW + 40;
  const scale = (duration: number) =>
    Math.round((LONGEST * Math.log(1 + duration / MINUTE)) / Math.log(1 + DAY / MINUTE));
  const bans = durations.flatMap((duration, i) => {
    const y = TOP + i * ROW;
    return [
      text(LEFT - 8, y + 17, `ban ${i + 1}`, { 'text-anchor': 'end' }),
      box('bad', [LEFT, y, scale(duration), 20]),
      text(LEFT + scale(duration) + 8, y + 15, formatDuration(duration)),
    ];
  });
  const step = (WIDTH - RIGHT - 20) / durations.length;
  const levels = durations.map((_, i) => durations.length - i);
  const stairs = levels.flatMap((level, i) => {
    const y = TOP + (durations.length - level) * ROW;
    return [
      [RIGHT + i * step, y],
      [RIGHT + (i + 1) * step, y],
    ] as const;
  });
  const bottom = TOP + durations.length * ROW;
  const names = levels.map((level, i) =>
    text(RIGHT + (i + 0.5) * step, TOP + i * ROW - 6, `level ${level}`, {
      'text-anchor': 'middle',
    }),
  );
  const fall = `one level lower after each ${formatDuration(decay)} without strike or ban`;
  return picture('Bans grow longer, and the ban level falls again', WIDTH, height, [
    text(0, 16, 'A client that keeps sending after 429 (log scale)'),
    text(RIGHT, 16, 'A client that waits again'),
    ...bans,
    ...names,
    line([...stairs, [WIDTH - 20, bottom]]),
    line([
      [RIGHT, bottom],
      [WIDTH - 20, bottom],
    ]),
    text(RIGHT, bottom + 18, fall, { class: 'small' }),
    text(LEFT, bottom + 18, 'the last duration repeats', { class: 'small' }),
  ]);
}
