/** How bars and lines look, in colour and without: see styles/charts.css. */
export type Look = 'good' | 'warn' | 'ban' | 'bad' | 'soft';

/** Series differ by pattern and dashes too, so that charts can be read in black and white. */
const MARKS: Readonly<Record<Look, string>> = {
  good: '',
  warn: 'M0 6L6 0',
  ban: 'M0 3H6',
  bad: 'M0 0L6 6M0 6L6 0',
  soft: 'M3 2V4',
};

const DASHES: Readonly<Partial<Record<Look, number[]>>> = {
  warn: [6, 4],
  bad: [2, 4],
};

export const dashOf = (look: Look): number[] => DASHES[look] ?? [];

/** CSS pixels of one tile of a pattern. */
const TILE = 6;

/** The colour of a look, or its pattern for bars. Colours are those of the legend, now. */
export function fillOf(
  {
    root,
    ctx,
  }: { readonly root: HTMLElement; readonly ctx: CanvasRenderingContext2D },
  look: Look,
  kind: 'bars' | 'lines',
): string | CanvasPattern {
  const swatch = root.closest('figure')!.querySelector(`.swatch.${look}`)!;
  const { color, outlineColor } = getComputedStyle(swatch);
  if (kind === 'lines' || MARKS[look] === '') return color;
  const tile = document.createElement('canvas');
  tile.width = TILE * devicePixelRatio;
  tile.height = tile.width;
  const drawing = tile.getContext('2d')!;
  drawing.scale(devicePixelRatio, devicePixelRatio);
  drawing.fillStyle = color;
  drawing.fillRect(0, 0, TILE, TILE);
  drawing.strokeStyle = outlineColor;
  drawing.lineWidth = 1.2;
  drawing.stroke(new Path2D(MARKS[look]));
  return ctx.createPattern(tile, 'repeat')!;
}
