import type { Gateway, Process, Status } from '@storegate/admin-api';
import {
  connectionsText,
  number,
  percent,
  plural,
  slowestOf,
} from '@storegate/admin-api/text';
import { h } from 'preact';
import { milliseconds, orDash, total } from '../../format.ts';
import { countsOf } from './outcomes.ts';
import type { Ticks } from './ticks.ts';

type FiguresProps = Pick<Status, 'gateways'> & { readonly ticks: Ticks };

export function Figures({ gateways, ticks }: FiguresProps) {
  const tick = ticks.all.at(-1);
  if (tick === undefined) return null;
  const { requests, span, latency } = tick.lately;
  const { limited, banned, refused, failed } = countsOf(tick.lately);
  const byLimits = limited + banned;
  const processes = gateways.flatMap((gateway) => gateway.processes);
  // Gateways that share a state name it alike; the newer of two versions may not.
  const states = new Set(gateways.map(({ state }) => state));
  return [
    h('dl', { class: 'tiles' }, [
      tile('Requests', rate(requests, span), 'in the last 10 seconds'),
      tile(
        'Refused by limits',
        share(byLimits, requests),
        rate(byLimits, span),
      ),
      tile('Failed', share(failed, requests), rate(failed, span)),
      tile(
        'Latency, p50',
        shown(latency.p50),
        `p95 ${shown(latency.p95)} · p99 ${shown(latency.p99)}`,
      ),
    ]),
    h('dl', { class: 'strip' }, [
      fact(
        'Refused otherwise',
        `${share(refused, requests)}, ${rate(refused, span)}`,
      ),
      fact('In flight', number(total(processes, ({ inFlight }) => inFlight))),
      fact(
        'Backend connections',
        connectionsText(...processes.map(({ backend }) => backend)),
      ),
      fact('State', [...states, ...stateNote(processes)].join(', ')),
      fact('Gateways', `${number(gateways.length)}, ${workersOf(gateways)}`),
    ]),
  ];
}

function tile(name: string, value: string, note: string) {
  return h('div', { key: name }, [
    h('dt', null, name),
    h('dd', { class: 'value' }, value),
    h('dd', { class: 'note' }, note),
  ]);
}

const fact = (name: string, value: string) =>
  h('div', { key: name }, [h('dt', null, name), h('dd', null, value)]);

/** Requests per second with two digits: `0.5/s`, `12/s`, `1,240/s`. */
function rate(count: number, span: number): string {
  if (span === 0) return '–';
  const perSecond = (count * 1_000) / span;
  return `${perSecond === 0 ? '0' : perSecond < 10 ? perSecond.toFixed(1) : number(Math.round(perSecond))}/s`;
}

const share = (part: number, all: number) =>
  all === 0 ? '–' : percent(part / all);
const shown = (duration: number | null) => orDash(duration, milliseconds);

function stateNote(processes: readonly Process[]): string[] {
  if (processes.some(({ localSince }) => localSince !== null)) return ['down'];
  const slowest = slowestOf(processes);
  return slowest === null ? [] : [`responds in ${milliseconds(slowest)}`];
}

function workersOf(gateways: readonly Gateway[]): string {
  const configured = total(gateways, ({ workers }) => workers);
  if (configured === 0)
    return gateways.length === 1 ? 'one process' : 'of one process each';
  const there = total(gateways, ({ workers, processes }) =>
    workers > 0 ? processes.length : 0,
  );
  return `${number(there)} of ${plural(configured, 'worker')}`;
}
