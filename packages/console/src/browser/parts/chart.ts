import { type ComponentChildren, h } from 'preact';
import { useId } from 'preact/hooks';
import { orDash, total } from '../format.ts';
import { type Column, Table } from './data.ts';

/** One kind of what is counted, or one line. */
export interface Series {
  readonly name: string;
  /** One for each step; `null`: nothing is known of it. */
  readonly values: readonly (number | null)[];
  /** How bars and lines of it look, in colour and without: see styles/charts.css. */
  readonly look: 'good' | 'warn' | 'bad' | 'soft';
}

interface ChartProps {
  /** What it shows, with its unit: also the table's caption. */
  readonly title: string;
  /** The time of each step. */
  readonly steps: readonly string[];
  readonly series: readonly Series[];
  /** Bars stand on each other; lines stand alone. */
  readonly kind: 'bars' | 'lines';
  readonly format: (value: number) => string;
}

const WIDTH = 720;
const HEIGHT = 160;
const LEFT = 56;
const BOTTOM = 20;
const TOP = 8;

/**
 * Bars or lines over time, as SVG: people who do not see it, or want figures, have the table behind
 * it. Series differ by pattern as well as by colour, so that it can be read in black and white.
 */
export function Chart({ title, steps, series, kind, format }: ChartProps) {
  const id = useId();
  const heights = steps.map((_, step) => series.map(({ values }) => values[step] ?? 0));
  const most = roundUp(
    Math.max(0, ...(kind === 'bars' ? heights.map((values) => total(values)) : heights.flat())),
  );
  const y = (value: number) =>
    HEIGHT - BOTTOM - (most === 0 ? 0 : (value / most) * (HEIGHT - BOTTOM - TOP));
  const stepWidth = (WIDTH - LEFT) / Math.max(1, steps.length);
  const x = (step: number) => LEFT + step * stepWidth;
  return h('figure', { class: 'chart' }, [
    h(
      'figcaption',
      null,
      h('span', { id, class: 'chart-title' }, title),
      h(Legend, { series, kind }),
    ),
    h('div', { class: 'plot' }, [
      h(
        'svg',
        {
          viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
          role: 'img',
          'aria-labelledby': id,
          preserveAspectRatio: 'none',
        },
        [
          h(Patterns, { id }),
          [most, most / 2, 0].map((value) =>
            h(
              'g',
              { key: value, class: 'axis' },
              h('line', { x1: LEFT, x2: WIDTH, y1: y(value), y2: y(value) }),
            ),
          ),
          kind === 'bars' ? series.map((one, index) => bars(one, index)) : series.map(line),
        ],
      ),
      most > 0 &&
        h(
          'div',
          { class: 'axis-y', 'aria-hidden': 'true' },
          h('span', null, format(most)),
          h('span', null, format(0)),
        ),
    ]),
    h('div', { class: 'axis-x', 'aria-hidden': 'true' }, [
      h('span', null, steps[0] ?? ''),
      h('span', null, steps.at(-1) ?? ''),
    ]),
    h('details', null, [
      h('summary', null, 'As a table'),
      h(Table<number>, {
        caption: title,
        empty: 'No data.',
        rows: [...steps.keys()],
        keyOf: (step) => step,
        columns: [
          { title: 'Time', cell: (step) => steps[step], names: true },
          ...series.map(({ name, values }): Column<number> => {
            return {
              title: name,
              figure: true,
              cell: (step) => orDash(values[step] ?? null, format),
            };
          }),
        ],
      }),
    ]),
  ]);

  function bars({ look, name }: Series, index: number) {
    return h(
      'g',
      { key: name, class: `bars ${look}`, fill: `url(#${id}-${look})` },
      steps.map((_, step) => {
        const value = heights[step]![index]!;
        if (value === 0) return null;
        const below = total(heights[step]!.slice(0, index));
        const top = y(below + value);
        const height = Math.max(0.5, y(below) - top);
        return h('rect', {
          key: step,
          x: x(step) + stepWidth * 0.1,
          width: stepWidth * 0.8,
          y: top,
          height,
        });
      }),
    );
  }

  /** A gap where nothing is known. */
  function line({ look, name, values }: Series) {
    let pen = 'M';
    let d = '';
    values.forEach((value, step) => {
      if (value === null) pen = 'M';
      else {
        d += `${pen}${(x(step) + stepWidth / 2).toFixed(1)} ${y(value).toFixed(1)}`;
        // A point with no neighbour is a line of no length, which a round end makes a dot.
        if (pen === 'M') d += 'h0';
        pen = 'L';
      }
    });
    return h('path', { key: name, class: `line ${look}`, d });
  }
}

function Legend({ series, kind }: Pick<ChartProps, 'series' | 'kind'>) {
  return h(
    'ul',
    { class: 'legend' },
    series.map(({ name, look }) =>
      h(
        'li',
        { key: name },
        h('span', { class: `swatch ${kind} ${look}`, 'aria-hidden': 'true' }),
        name,
      ),
    ),
  );
}

/** Patterns have ids of their own in each chart: a page has several. */
function Patterns({ id }: { id: string }) {
  const size = { width: 6, height: 6 };
  const pattern = (look: Series['look'], mark?: ComponentChildren) =>
    h('pattern', { id: `${id}-${look}`, ...size, patternUnits: 'userSpaceOnUse' }, [
      h('rect', { class: `ground ${look}`, ...size }),
      mark,
    ]);
  return h('defs', null, [
    pattern('good'),
    pattern('warn', h('path', { class: 'mark', d: 'M0 6L6 0' })),
    pattern('bad', h('path', { class: 'mark', d: 'M0 0L6 6M0 6L6 0' })),
    pattern('soft', h('circle', { class: 'dot', cx: 3, cy: 3, r: 1.2 })),
  ]);
}

/** The next of 1, 2, 5, 10, 20, 50, … so that the axis ends at a number that people read. */
export function roundUp(value: number): number {
  if (value <= 0) return 0;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value)!;
}
