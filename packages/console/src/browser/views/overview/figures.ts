import type { LiveGateway, LiveNow } from '@storegate/admin-api';
import { number, percent, plural, slowestOf } from '@storegate/admin-api/words';
import { h } from 'preact';
import { milliseconds, orDash, total } from '../../format.ts';
import { sumOf } from './outcomes.ts';

/** Milliseconds that rates are of: those of one tick jump. */
const LATELY = 10_000;

export function Figures({ ticks }: { ticks: readonly LiveNow[] }) {
  const { latency, inFlight, gateways } = ticks.at(-1)!;
  const sum = sumOf(ticks, LATELY);
  const backend = gateways.map((gateway) => gateway.backend);
  // Gateways that share a state name it alike; the newer of two versions may not.
  const states = new Set(gateways.map(({ state }) => state));
  return h('dl', { class: 'tiles' }, [
    tile('Requests', rate(sum.requests, sum.span), 'in the last 10 seconds'),
    tile(
      'Refused by limits',
      share(sum.limited, sum.requests),
      rate(sum.limited, sum.span),
    ),
    tile(
      'Refused otherwise',
      share(sum.refused, sum.requests),
      rate(sum.refused, sum.span),
    ),
    tile('Failed', share(sum.failed, sum.requests), rate(sum.failed, sum.span)),
    tile(
      'Latency, p50',
      shown(latency.p50),
      `p95 ${shown(latency.p95)} · p99 ${shown(latency.p99)}`,
    ),
    tile('In flight', number(inFlight), 'requests'),
    tile(
      'Backend connections',
      number(total(backend, ({ open, idle }) => open - idle)),
      backendNote(backend),
    ),
    tile('State', [...states].join(', '), stateNote(gateways)),
    tile('Gateways', number(gateways.length), workersOf(gateways)),
  ]);
}

function tile(name: string, value: string, note: string) {
  return h('div', { key: name }, [
    h('dt', null, name),
    h('dd', { class: 'value' }, value),
    h('dd', { class: 'note' }, note),
  ]);
}

/** Requests per second with two digits: `0.5/s`, `12/s`, `1,240/s`. */
function rate(count: number, span: number): string {
  if (span === 0) return '–';
  const perSecond = (count * 1_000) / span;
  return `${perSecond === 0 ? '0' : perSecond < 10 ? perSecond.toFixed(1) : number(Math.round(perSecond))}/s`;
}

const share = (part: number, all: number) =>
  all === 0 ? '–' : percent(part / all);
const shown = (duration: number | null) => orDash(duration, milliseconds);

function backendNote(backend: readonly LiveGateway['backend'][]): string {
  const waiting = total(backend, (one) => one.waiting);
  return `in use of ${number(total(backend, ({ limit }) => limit))}${waiting > 0 ? `, ${number(waiting)} waiting` : ''}`;
}

function stateNote(gateways: readonly LiveGateway[]): string {
  if (gateways.some(({ localSince }) => localSince !== null)) return 'down';
  const slowest = slowestOf(gateways);
  return slowest === null
    ? 'in the gateway itself'
    : `responds in ${milliseconds(slowest)}`;
}

function workersOf(gateways: readonly LiveGateway[]): string {
  const wanted = total(gateways, ({ workers }) => workers);
  if (wanted === 0)
    return gateways.length === 1 ? 'one process' : 'of one process each';
  const there = total(gateways, ({ workers, processes }) =>
    workers > 0 ? processes : 0,
  );
  return `${number(there)} of ${plural(wanted, 'worker')}`;
}
