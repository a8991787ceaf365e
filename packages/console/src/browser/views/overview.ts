import type {
  Backend,
  Finding,
  HistoryStep,
  Status,
} from '@storegate/admin-api';
import {
  findingText,
  isWell,
  number,
  POLL_INTERVAL,
  plural,
  statusText,
} from '@storegate/admin-api/text';
import { type ComponentChildren, h } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';
import { type Query, useQuery } from '../api/hooks.ts';
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
  LAST_DAY,
  LAST_HOUR,
  latencyAsSeries,
  outcomesAsSeries,
  useHistory,
} from './overview/charts.ts';
import { Figures } from './overview/figures.ts';
import {
  NO_TICKS,
  type Ticks,
  ticksOnLine,
  withMinutes,
  withStatus,
} from './overview/ticks.ts';

/** The health, and the traffic: live, the last hour, the last day. */
export function Overview() {
  const [paused, setPaused] = useState(false);
  const [ticks, setTicks] = useState(NO_TICKS);
  const query = useQuery('getStatus', {
    every: paused ? null : POLL_INTERVAL,
  });
  const status = query.value;
  const [lastHour, lastDay] = [useHistory(LAST_HOUR), useHistory(LAST_DAY)];
  useEffect(() => {
    // Unlike the clock of the machine, this one is never set.
    const now = performance.timeOrigin + performance.now();
    if (status) setTicks((before) => withStatus(before, status, now));
  }, [status]);
  return h(
    View,
    {
      title: 'Overview',
      about: 'System status',
      actions: [h(Links, null), h(LiveSwitch, { query, paused, setPaused })],
    },
    h(HealthSection, { value: status, error: query.error }),
    h(HistoryPanel, { ...LAST_HOUR, query: lastHour }),
    status && h(Figures, { ...status, ticks }),
    status && h(Backends, { ...status }),
    status && h(LastMinutes, { ticks, steps: lastHour.value?.steps ?? [] }),
    h(HistoryPanel, { ...LAST_DAY, query: lastDay }),
  );
}

/** Begins with what the gateway knows of the minutes before. */
function LastMinutes({
  ticks,
  steps,
}: {
  ticks: Ticks;
  steps: readonly HistoryStep[];
}) {
  const seen = ticksOnLine(ticks);
  const newest = seen.at(-1)?.at ?? Date.now();
  const starts = seen.map(
    (tick, i) => tick?.at ?? newest - (seen.length - 1 - i) * POLL_INTERVAL,
  );
  const line = withMinutes(seen, starts, steps);
  return h('section', { 'aria-label': 'Last two minutes' }, [
    h('h2', null, 'Last two minutes'),
    h('div', { class: 'charts' }, [
      h(Chart, {
        title: 'Requests per second',
        kind: 'bars',
        starts,
        grain: 'second',
        series: outcomesAsSeries(line, ({ span }) => 1_000 / span),
        format: (value) => number(Math.round(value * 10) / 10),
      }),
      h(Chart, {
        title: 'Latency of the last ten seconds',
        kind: 'lines',
        starts,
        grain: 'second',
        series: latencyAsSeries(
          line.map((tick) => tick?.lately.latency ?? null),
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
}: Pick<Query<Status>, 'value' | 'error'>) {
  if (value === null) {
    const text =
      error === null ? 'Looking …' : 'Unknown: the gateway does not respond.';
    return healthSection('plain', text);
  }
  const { status, since, findings } = value.health;
  const text = [
    h('span', null, statusText(status)),
    since !== null && ` since ${clockTime(since)}`,
    error !== null && ' at last contact',
  ];
  return healthSection(error === null ? TONES[status] : 'warn', text, findings);
}

function healthSection(
  tone: Tone,
  text: ComponentChildren,
  findings: readonly Finding[] = [],
) {
  const causes = findings.filter(({ cause }) => cause === null);
  return h('section', { class: `health ${tone}`, 'aria-label': 'Health' }, [
    h('p', { class: 'health-line', role: 'status' }, text),
    findingList(causes, (cause, i) =>
      // What follows from several findings of a type is below the last.
      causes[i + 1]?.type === cause.type
        ? []
        : findings.filter((one) => one.cause === cause.type),
    ),
  ]);
}

function findingList(
  findings: readonly Finding[],
  consequencesOf: (
    finding: Finding,
    i: number,
  ) => readonly Finding[] = () => [],
): ComponentChildren {
  if (findings.length === 0) return null;
  return h(
    'ul',
    null,
    findings.map((finding, i) => {
      const text = findingText(finding, clockTime);
      const view = VIEWS[finding.type] ?? 'gateways';
      return h('li', { key: text, class: TONES[finding.status] }, [
        `${text} `,
        h('a', { href: linkTo(view) }, TITLES[view]),
        findingList(consequencesOf(finding, i)),
      ]);
    }),
  );
}

/** Backends that are up and are shown here; all of them stand in the view Gateways. */
const SHOWN_UP = 5;

/** How every backend stands: those first that somebody has to look at. */
function Backends({ backends }: { backends: readonly Backend[] }) {
  const unwell = backends.filter((backend) => !isWell(backend));
  const well = backends.filter(isWell);
  const others = well.length - SHOWN_UP;
  return h('section', { 'aria-label': 'Backends' }, [
    h('h2', null, 'Backends'),
    h(BackendTable<Backend>, {
      backends: [...unwell, ...well.slice(0, SHOWN_UP)],
    }),
    others > 0 &&
      h('p', { class: 'about' }, [
        `${plural(others, 'more backend')} ${others === 1 ? 'is' : 'are'} up: `,
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
