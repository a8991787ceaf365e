import { h, type RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { orDash } from '../format.ts';
import { type Column, Table } from './data.ts';
import { roundUp, stacked } from './scale.ts';
import type { Series } from './series.ts';
import { dashOf, fillOf } from './signs.ts';
import { type Grain, stepName, ticksOf } from './ticks.ts';

interface ChartProps {
  /** What it shows, with its unit: also the table's caption. */
  readonly title: string;
  /** The begin of each step, Unix milliseconds. */
  readonly starts: readonly number[];
  readonly grain: Grain;
  readonly series: readonly Series[];
  /** Bars stand on each other; lines stand alone. */
  readonly kind: 'bars' | 'lines';
  readonly format: (value: number) => string;
}

/**
 * Bars or lines over time. The legend has the values of the step under the pointer or chosen with
 * the arrow keys, else of the newest step; the table behind it has all of them.
 */
export function Chart(props: ChartProps) {
  const { title, starts, grain, series, kind, format } = props;
  const [chosen, setChosen] = useState<number | null>(null);
  const figure = useRef<HTMLElement>(null);
  const plot = usePlot(figure, props, setChosen);
  const steps = starts.map((start) => stepName(start, grain));
  const step = Math.min(chosen ?? steps.length, steps.length - 1);
  const valueAt = ({ values }: Series, at: number) =>
    orDash(values[at] ?? null, format);
  const choose = (event: Event) =>
    chooseStep(plot.current!, event.currentTarget);

  return h('figure', { class: 'chart', ref: figure }, [
    h('figcaption', null, [
      h('span', { class: 'chart-title' }, title),
      h('span', { class: 'step', 'aria-hidden': 'true' }, steps[step]),
      h('ul', { class: 'legend', 'aria-hidden': 'true' }, [
        series.map((one) =>
          h('li', { key: one.name }, [
            h('span', { class: `swatch ${kind} ${one.sign}` }),
            `${one.name} `,
            h('b', null, valueAt(one, step)),
          ]),
        ),
      ]),
    ]),
    h('div', { class: 'plot' }, [
      // Arrow keys, Home, End and their announcement are those of the browser.
      h('input', {
        type: 'range',
        class: 'unseen',
        min: 0,
        max: Math.max(0, steps.length - 1),
        value: step,
        'aria-label': title,
        'aria-valuetext': `${steps[step]}: ${series.map((one) => `${one.name} ${valueAt(one, step)}`).join(', ')}`,
        onInput: choose,
        onFocus: choose,
        onBlur: () => setChosen(hideCursor(plot.current!)),
      }),
    ]),
    h('details', null, [
      h('summary', null, 'As a table'),
      h(Table<number>, {
        caption: title,
        empty: 'No data.',
        rows: [...steps.keys()],
        keyOf: (at) => at,
        columns: [
          ['Time', (at) => steps[at], 'names'],
          ...series.map((one): Column<number> => {
            return [one.name, (at) => valueAt(one, at), 'figure'];
          }),
        ],
      }),
    ]),
  ]);
}

function chooseStep(plot: uPlot, target: EventTarget | null): void {
  const { value } = target as HTMLInputElement;
  plot.setCursor({ left: plot.valToPos(Number(value), 'x'), top: 0 });
}

function hideCursor(plot: uPlot): null {
  plot.setCursor({ left: -1, top: -1 });
  return null;
}

/** CSS pixels. */
const HEIGHT = 170;
const AXIS_WIDTH = 60;
const LABEL_WIDTH = 64;
const LINE_HEIGHT = 16;

/** Draws the chart again when its data, its width or the colours change. */
function usePlot(
  figure: RefObject<HTMLElement | null>,
  props: ChartProps,
  onStep: (step: number | null) => void,
): RefObject<uPlot | null> {
  const plot = useRef<uPlot | null>(null);
  const newest = useRef(props);
  newest.current = props;
  useLayoutEffect(() => {
    const place = figure.current!.querySelector<HTMLElement>('.plot')!;
    const drawn = new uPlot(
      optionsOf(newest, place, onStep),
      dataOf(props),
      place,
    );
    plot.current = drawn;
    const resizing = new ResizeObserver(() =>
      drawn.setSize({ width: place.clientWidth, height: HEIGHT }),
    );
    resizing.observe(place);
    const listening = new AbortController();
    matchMedia('(prefers-color-scheme: dark)').addEventListener(
      'change',
      () => drawn.redraw(),
      {
        signal: listening.signal,
      },
    );
    return () => {
      listening.abort();
      resizing.disconnect();
      drawn.destroy();
    };
  }, []);
  const data = dataOf(props);
  useEffect(() => {
    plot.current!.setData(data);
    // Times of steps may change while the scales stay.
    plot.current!.redraw(false, true);
  }, [JSON.stringify([props.starts, data])]);
  return plot;
}

/** Steps by their number. The last series, whose bars are the highest, comes first. */
function dataOf({ starts, series, kind }: ChartProps): uPlot.AlignedData {
  const values = series.map((one) => [...one.values]);
  const shown = kind === 'bars' ? stacked(values) : values;
  return [[...starts.keys()], ...shown.toReversed()];
}

function optionsOf(
  props: { readonly current: ChartProps },
  place: HTMLElement,
  onStep: (step: number | null) => void,
): uPlot.Options {
  const { kind, series } = props.current;
  const colour = (name: 'color' | 'borderTopColor') => () =>
    getComputedStyle(place)[name];
  const axis = {
    stroke: colour('color'),
    font: '12px system-ui',
    ticks: { show: false },
  };
  const grid = { stroke: colour('borderTopColor'), width: 1 };
  const barPaths = uPlot.paths.bars!({ size: [0.8, Number.POSITIVE_INFINITY] });
  const seriesOf = ({ sign }: Series): uPlot.Series => {
    const paint = (plot: uPlot) => fillOf(plot, sign);
    return kind === 'bars'
      ? { fill: paint, width: 0, paths: barPaths, points: { show: false } }
      : {
          stroke: paint,
          width: 2,
          dash: dashOf(sign),
          points: { show: true, size: 3 },
        };
  };
  const ticks = (plot: uPlot) => {
    const { starts, grain } = props.current;
    const space = (plot.width - AXIS_WIDTH) / LABEL_WIDTH;
    return ticksOf(starts, grain, Math.max(1, Math.floor(space)));
  };
  return {
    width: place.clientWidth,
    height: HEIGHT,
    // Half of a label stands beyond the newest step.
    padding: [8, LABEL_WIDTH / 2, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: {
        time: false,
        range: () => [-0.5, props.current.starts.length - 0.5],
      },
      y: { range: (_plot, _least, most) => [0, roundUp(most) || 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: (plot) => {
          const lines = ticks(plot).map(({ text }) => text.split('\n').length);
          return 8 + LINE_HEIGHT * Math.max(1, ...lines);
        },
        splits: (plot) => ticks(plot).map(({ step }) => step),
        values: (plot) => ticks(plot).map(({ text }) => text),
      },
      {
        ...axis,
        grid,
        size: AXIS_WIDTH,
        splits: (_plot, _axis, least, most) => [least, most / 2, most],
        values: (_plot, values) =>
          values.map((value) => props.current.format(value)),
      },
    ],
    series: [{}, ...series.map(seriesOf).toReversed()],
    // Each bar begins where the next lower one ends.
    bands:
      kind === 'bars'
        ? series.slice(1).map((_, i) => ({ series: [i + 1, i + 2] }))
        : [],
    hooks: { setCursor: [({ cursor }) => onStep(cursor.idx ?? null)] },
  };
}
