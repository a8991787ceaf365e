import type { Sign } from './series.ts';

/** Patterns of bars and dashes of lines, so that charts can be read in black and white. */
const MARKS: Readonly<Partial<Record<Sign, string>>> = {
  limited: 'M0 6L6 0',
  banned: 'M0 3H6',
  refused: 'M3 2V4',
  failed: 'M0 0L6 6M0 6L6 0',
};

const DASHES: Readonly<Partial<Record<Sign, number[]>>> = {
  p95: [6, 4],
  p99: [2, 4],
};

export const dashOf = (sign: Sign): number[] => DASHES[sign] ?? [];

/** CSS pixels of one tile of a pattern. */
const TILE = 6;

/** The colour of a sign, with its pattern for bars. Colours are those of the legend, now. */
export function fillOf(
  {
    root,
    ctx,
  }: { readonly root: HTMLElement; readonly ctx: CanvasRenderingContext2D },
  sign: Sign,
): string | CanvasPattern {
  const swatch = root.closest('figure')!.querySelector(`.swatch.${sign}`)!;
  const { color, outlineColor } = getComputedStyle(swatch);
  const mark = MARKS[sign];
  if (mark === undefined) return color;
  const tile = document.createElement('canvas');
  tile.width = TILE * devicePixelRatio;
  tile.height = tile.width;
  const drawing = tile.getContext('2d')!;
  drawing.scale(devicePixelRatio, devicePixelRatio);
  drawing.fillStyle = color;
  drawing.fillRect(0, 0, TILE, TILE);
  drawing.strokeStyle = outlineColor;
  drawing.lineWidth = 1.2;
  drawing.stroke(new Path2D(mark));
  return ctx.createPattern(tile, 'repeat')!;
}
