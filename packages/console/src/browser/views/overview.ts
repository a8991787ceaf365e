import { h } from 'preact';
import { useState } from 'preact/hooks';
import type { LiveNow } from '../../admin-api.ts';
import { useAnswer } from '../api/use-answer.ts';
import { useStream } from '../api/use-stream.ts';
import { clockTime, milliseconds, number } from '../format.ts';
import { Chart } from '../parts/chart.ts';
import { Links } from '../parts/links.ts';
import { LiveSwitch } from '../parts/live.ts';
import { View } from '../parts/view.ts';
import { Figures } from './overview/figures.ts';
import { HistoryPanel } from './overview/history-panel.ts';
import { ticksOnLine } from './overview/line.ts';
import { type Kinds, kindsOf } from './overview/outcomes.ts';
import { kindsAsSeries, latencyAsSeries } from './overview/series.ts';
import { Stores } from './overview/stores.ts';
import { troublesIn } from './overview/verdict.ts';
import { VerdictLine } from './overview/verdict-line.ts';

/** Ticks that are shown: two minutes. */
const SHOWN = 60;

/** Whether all is well, and how it goes: live, the last hour, the last day. */
export function Overview() {
  const [ticks, setTicks] = useState<readonly LiveNow[]>([]);
  const [paused, setPaused] = useState(false);
  const stream = useStream(paused ? null : '/live', { event: 'now' }, (_name, data) =>
    setTicks((before) => withTick(before, data as LiveNow)),
  );
  const status = useAnswer('/status', { every: 10_000 });
  return h(
    View,
    {
      title: 'Overview',
      about: 'System status',
      actions: [h(Links, null), h(LiveSwitch, { state: stream, paused, onPause: setPaused })],
    },
    h(VerdictLine, { troubles: troublesIn(ticks, status.value), known: ticks.length > 0, stream }),
    ticks.length > 0 && h(Figures, { ticks }),
    ticks.length > 0 && h(Stores, { stores: ticks.at(-1)!.stores }),
    ticks.length > 0 && h(LastMinutes, { ticks }),
    h(HistoryPanel, { title: 'Last hour', since: '1h', step: '1m', length: 60_000, count: 60, each: 'minute' }),
    h(HistoryPanel, {
      title: 'Last day',
      since: '24h',
      step: '10m',
      length: 600_000,
      count: 144,
      each: '10 minutes',
    }),
  );
}

/** A new or repeated subscription gets the last tick again. */
function withTick(before: readonly LiveNow[], tick: LiveNow): readonly LiveNow[] {
  return before.at(-1)?.at === tick.at ? before : [...before.slice(1 - SHOWN), tick];
}

function LastMinutes({ ticks }: { ticks: readonly LiveNow[] }) {
  const line = ticksOnLine(ticks, SHOWN);
  const names = line.map((tick) => (tick === null ? '' : clockTime(tick.at)));
  return h('section', { 'aria-label': 'Last two minutes' }, [
    h('h2', null, 'Last two minutes'),
    h('div', { class: 'charts' }, [
      h(Chart, {
        title: 'Requests per second',
        kind: 'bars',
        steps: names,
        series: kindsAsSeries(line.map((tick) => tick && perSecond(kindsOf(tick), tick.span))),
        format: (value) => number(Math.round(value * 10) / 10),
      }),
      h(Chart, {
        title: 'Latency of the last ten seconds',
        kind: 'lines',
        steps: names,
        series: latencyAsSeries(line.map((tick) => (tick === null ? null : tick.latency))),
        format: milliseconds,
      }),
    ]),
  ]);
}

function perSecond({ answered, limited, refused, failed }: Kinds, span: number): Kinds {
  const rate = (count: number) => (count * 1_000) / span;
  return { answered: rate(answered), limited: rate(limited), refused: rate(refused), failed: rate(failed) };
}
