import type { Backend, LiveNow } from '@storegate/admin-api';
import { isWell, number, plural } from '@storegate/admin-api/words';
import { h } from 'preact';
import { useContext, useState } from 'preact/hooks';
import { useAnswer } from '../api/hooks.ts';
import { type StreamState, useLive } from '../api/stream.ts';
import { clockTime, milliseconds } from '../format.ts';
import { BackendTable } from '../parts/backend-table.ts';
import { Chart } from '../parts/chart.ts';
import { LiveSwitch } from '../parts/live.ts';
import { View } from '../parts/view.ts';
import { linkTo } from '../routing.ts';
import { SessionContext } from '../session.ts';
import {
  HistoryPanel,
  kindsAsSeries,
  LAST_DAY,
  LAST_HOUR,
  latencyAsSeries,
} from './overview/charts.ts';
import { Figures } from './overview/figures.ts';
import { ticksOnLine } from './overview/outcomes.ts';
import { type Trouble, troublesIn } from './overview/verdict.ts';

/** Ticks that are shown: two minutes. */
const SHOWN_TICKS = 60;

/** Whether all is well, and how it goes: live, the last hour, the last day. */
export function Overview() {
  const [ticks, setTicks] = useState<readonly LiveNow[]>([]);
  const stream = useLive('now', {}, (tick) => setTicks((before) => withTick(before, tick)));
  const status = useAnswer('getStatus', { every: 10_000 });
  return h(
    View,
    {
      title: 'Overview',
      about: 'System status',
      actions: [h(Links, null), h(LiveSwitch, stream)],
    },
    verdictOf(troublesIn(ticks, status.value), ticks.length > 0, stream),
    h(HistoryPanel, LAST_HOUR),
    ticks.length > 0 && h(Figures, { ticks }),
    ticks.length > 0 && h(Backends, { backends: ticks.at(-1)!.backends }),
    ticks.length > 0 && h(LastMinutes, { ticks }),
    h(HistoryPanel, LAST_DAY),
  );
}

/** A new or repeated subscription gets the last tick again. */
function withTick(before: readonly LiveNow[], tick: LiveNow): readonly LiveNow[] {
  return before.at(-1)?.at === tick.at ? before : [...before.slice(1 - SHOWN_TICKS), tick];
}

function LastMinutes({ ticks }: { ticks: readonly LiveNow[] }) {
  const line = ticksOnLine(ticks, SHOWN_TICKS);
  const names = line.map((tick) => (tick === null ? '' : clockTime(tick.at)));
  return h('section', { 'aria-label': 'Last two minutes' }, [
    h('h2', null, 'Last two minutes'),
    h('div', { class: 'charts' }, [
      h(Chart, {
        title: 'Requests per second',
        kind: 'bars',
        steps: names,
        series: kindsAsSeries(line, ({ span }) => 1_000 / span),
        format: (value) => number(Math.round(value * 10) / 10),
      }),
      h(Chart, {
        title: 'Latency of the last ten seconds',
        kind: 'lines',
        steps: names,
        series: latencyAsSeries(line.map((tick) => (tick ? tick.latency : null))),
        format: milliseconds,
      }),
    ]),
  ]);
}

const TITLES: Readonly<Record<Trouble['view'], string>> = {
  gateways: 'Gateways',
  requests: 'Requests',
  'top-clients': 'Top clients',
  configuration: 'Configuration',
};

/**
 * Whether all is well; if not, each trouble with a link to its view. `known`: whether there is
 * anything to judge by.
 */
function verdictOf(troubles: readonly Trouble[], known: boolean, stream: StreamState) {
  const tone = !known
    ? 'plain'
    : (troubles[0]?.tone ?? (stream.status === 'lost' ? 'warn' : 'good'));
  return h('section', { class: `verdict ${tone}`, 'aria-label': 'Verdict' }, [
    h('p', { class: 'verdict-line', role: 'status' }, headline(troubles, known, stream)),
    troubles.length > 0 && h('ul', null, troubles.map(troubleItem)),
  ]);
}

const troubleItem = ({ tone, words, view }: Trouble) =>
  h('li', { key: words, class: tone }, `${words} `, h('a', { href: linkTo(view) }, TITLES[view]));

function headline(troubles: readonly Trouble[], known: boolean, { status }: StreamState): string {
  if (!known) return status === 'lost' ? 'Unknown: the gateway does not respond.' : 'Looking …';
  if (troubles.length === 0) return status === 'lost' ? 'OK at last contact.' : 'OK';
  return troubles[0]!.tone === 'bad' ? 'Down' : 'Degraded';
}

/** Backends that are up and are shown here; all of them stand in the view Gateways. */
const SHOWN_UP = 5;

/** How every backend stands: those first that somebody has to look at. */
function Backends({ backends }: { backends: readonly Backend[] }) {
  const unwell = backends.filter((backend) => !isWell(backend));
  const well = backends.filter(isWell);
  const left = well.length - SHOWN_UP;
  return h('section', { 'aria-label': 'Backends' }, [
    h('h2', null, 'Backends'),
    h(BackendTable<Backend>, { backends: [...unwell, ...well.slice(0, SHOWN_UP)] }),
    left > 0 &&
      h('p', { class: 'about' }, [
        `${plural(left, 'more backend')} ${left === 1 ? 'is' : 'are'} up: `,
        h('a', { href: linkTo('gateways') }, 'Gateways'),
      ]),
  ]);
}

/**
 * Links to pages of other systems, such as dashboards, in tabs of their own. Nothing if
 * `console.links` names none.
 */
function Links() {
  const { links } = useContext(SessionContext);
  if (links.length === 0) return null;
  return h(
    'ul',
    { class: 'links', 'aria-label': 'Pages of other systems' },
    links.map(({ title, url }) =>
      h(
        'li',
        { key: url + title },
        h('a', { href: url, target: '_blank', rel: 'noreferrer' }, title),
      ),
    ),
  );
}
