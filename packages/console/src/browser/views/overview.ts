import type { Backend, Finding, LiveNow, Status } from '@storegate/admin-api';
import {
  findingInWords,
  isWell,
  number,
  plural,
  statusInWords,
} from '@storegate/admin-api/words';
import { type ComponentChildren, h } from 'preact';
import { useContext, useState } from 'preact/hooks';
import { type Answer, useAnswer } from '../api/hooks.ts';
import { useLive } from '../api/stream.ts';
import { clockTime, milliseconds } from '../format.ts';
import { BackendTable } from '../parts/backend-table.ts';
import { Chart } from '../parts/chart.ts';
import type { Tone } from '../parts/data.ts';
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

/** Ticks that are shown: two minutes. */
const SHOWN_TICKS = 60;

/** The health, and the traffic: live, the last hour, the last day. */
export function Overview() {
  const [ticks, setTicks] = useState<readonly LiveNow[]>([]);
  const stream = useLive('now', {}, (tick) =>
    setTicks((before) => withTick(before, tick)),
  );
  const status = useAnswer('getStatus', { every: 2_000 });
  return h(
    View,
    {
      title: 'Overview',
      about: 'System status',
      actions: [h(Links, null), h(LiveSwitch, stream)],
    },
    h(HealthSection, { value: status.value, error: status.error }),
    h(HistoryPanel, LAST_HOUR),
    ticks.length > 0 && h(Figures, { ticks }),
    ticks.length > 0 && h(Backends, { backends: ticks.at(-1)!.backends }),
    ticks.length > 0 && h(LastMinutes, { ticks }),
    h(HistoryPanel, LAST_DAY),
  );
}

/** A new or repeated subscription gets the last tick again. */
function withTick(
  before: readonly LiveNow[],
  tick: LiveNow,
): readonly LiveNow[] {
  return before.at(-1)?.at === tick.at
    ? before
    : [...before.slice(1 - SHOWN_TICKS), tick];
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
        series: latencyAsSeries(
          line.map((tick) => (tick ? tick.latency : null)),
        ),
        format: milliseconds,
      }),
    ]),
  ]);
}

type ViewName = 'gateways' | 'requests' | 'top-clients' | 'configuration';

const TITLES: Readonly<Record<ViewName, string>> = {
  gateways: 'Gateways',
  requests: 'Requests',
  'top-clients': 'Top clients',
  configuration: 'Configuration',
};

/** The view with the details of a finding; default: Gateways. */
const VIEWS: Readonly<Record<string, ViewName>> = {
  requests_fail: 'requests',
  some_requests_fail: 'requests',
  many_refused: 'top-clients',
  reload_refused: 'configuration',
  contract_copy: 'configuration',
  restart_pending: 'configuration',
};

const TONES = { ok: 'good', degraded: 'warn', down: 'bad' } as const;

/** The health that the gateway judges, and each finding with a link to its view. */
function HealthSection({
  value,
  error,
}: Pick<Answer<Status>, 'value' | 'error'>) {
  if (value === null) {
    const words =
      error === null ? 'Looking …' : 'Unknown: the gateway does not respond.';
    return healthSection('plain', words);
  }
  const { status, since, findings } = value.health;
  const words = [
    h('span', null, statusInWords(status)),
    since !== null && ` since ${clockTime(since)}`,
    error !== null && ' at last contact',
  ];
  return healthSection(
    error === null ? TONES[status] : 'warn',
    words,
    findings,
  );
}

function healthSection(
  tone: Tone,
  words: ComponentChildren,
  findings: readonly Finding[] = [],
) {
  return h('section', { class: `health ${tone}`, 'aria-label': 'Health' }, [
    h('p', { class: 'health-line', role: 'status' }, words),
    findings.length > 0 && h('ul', null, findings.map(findingItem)),
  ]);
}

function findingItem(finding: Finding) {
  const { type, status } = finding;
  const words = findingInWords(finding, clockTime);
  const view = VIEWS[type] ?? 'gateways';
  const link = h('a', { href: linkTo(view) }, TITLES[view]);
  return h('li', { key: words, class: TONES[status] }, `${words} `, link);
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
    h(BackendTable<Backend>, {
      backends: [...unwell, ...well.slice(0, SHOWN_UP)],
    }),
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
