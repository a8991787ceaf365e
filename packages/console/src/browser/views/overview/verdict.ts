import type { Backend, LiveGateway, LiveNow, Status } from '@storegate/admin-api';
import {
  backendProblem,
  type ConfigurationProblem,
  configurationProblems,
  lostGateway,
  missingGateways,
  NO_GATEWAY,
  number,
  percent,
  plural,
  withoutRedis,
} from '@storegate/admin-api/words';
import { clockTime } from '../../format.ts';
import { type Sum, sumOf } from './outcomes.ts';

export interface Trouble {
  readonly tone: 'bad' | 'warn';
  readonly words: string;
  readonly view: 'gateways' | 'requests' | 'top-clients' | 'configuration';
}

/** Milliseconds over which shares are computed, and the fewest requests that make one. */
const LATELY = 60_000;
const FEWEST = 20;
/** Shares of requests: of failed ones, and of those that limits refuse. */
const FAILING = 0.01;
const FAILING_SOME = 0.001;
const REFUSING = 0.5;

/**
 * All that is not well, the worst first. `ticks`: the newest last; `status`: `null` while it is not
 * known.
 */
export function troublesIn(ticks: readonly LiveNow[], status: Status | null): readonly Trouble[] {
  const now = ticks.at(-1);
  const troubles = [
    ...(now
      ? [...ofGateways(now), ...ofBackends(now.backends), ...now.gateways.flatMap(ofGateway)]
      : []),
    ...ofRequests(sumOf(ticks, LATELY)),
    ...(status?.lost ?? []).map((lost) => bad('gateways', lostGateway(lost, clockTime))),
    ...(status?.gateways ?? [])
      .flatMap((gateway) => configurationProblems(gateway, clockTime))
      .map(ofConfiguration),
  ];
  return troubles.sort((one, other) => Number(one.tone === 'warn') - Number(other.tone === 'warn'));
}

function ofGateways(now: LiveNow): Trouble[] {
  const words = [...missingGateways(now), ...(now.gateways.length === 0 ? [NO_GATEWAY] : [])];
  return words.map((one) => bad('gateways', one));
}

function ofGateway({
  gateway,
  readiness,
  localSince,
  workers,
  processes,
  backend,
}: LiveGateway): Trouble[] {
  const troubles: Trouble[] = [];
  const missing = workers - processes;
  if (readiness === 'stopping') troubles.push(warn('gateways', `${gateway} is stopping.`));
  if (readiness === 'no_workers')
    troubles.push(bad('gateways', `${gateway} has no worker and serves no requests.`));
  else if (workers > 0 && missing > 0) {
    const words = `${missing} of ${plural(workers, 'worker')} ${missing === 1 ? 'does' : 'do'} not respond.`;
    troubles.push(bad('gateways', `${gateway}: ${words}`));
  }
  if (localSince !== null)
    troubles.push(bad('gateways', withoutRedis(gateway, localSince, clockTime)));
  else if (readiness === 'state_down')
    troubles.push(bad('gateways', `${gateway} accepts no requests: the shared state is down.`));
  if (readiness === 'upstreams_down')
    troubles.push(
      bad('gateways', `${gateway} is not ready: all backends of an upstream are down.`),
    );
  if (backend.waiting > 0) {
    const use = `${of(backend.open - backend.idle, backend.limit)} are in use`;
    const words = `${plural(backend.waiting, 'request')} waiting for a backend connection, ${use}.`;
    troubles.push(warn('gateways', `${gateway}: ${words}`));
  }
  return troubles;
}

/** A backend that recovers is not a trouble. */
function ofBackends(backends: readonly Backend[]): Trouble[] {
  return [...Map.groupBy(backends, ({ upstream }) => upstream)].flatMap(([upstream, all]) => {
    const down = all.filter(({ state }) => state === 'down');
    const partly = all.filter(({ state }) => state === 'partial');
    const troubles = [...down, ...partly].map((backend) => {
      const words = backendProblem(backend, clockTime);
      return down.length === all.length ? bad('gateways', words) : warn('gateways', words);
    });
    if (down.length < all.length || all.length === 1) return troubles;
    return [bad('gateways', `All ${all.length} backends of ${upstream} are down.`), ...troubles];
  });
}

function ofRequests({ requests, failed, limited }: Sum): Trouble[] {
  if (requests < FEWEST)
    return failed > 0
      ? [bad('requests', `${of(failed, requests)} failed in the last minute.`)]
      : [];
  const troubles: Trouble[] = [];
  if (failed / requests >= FAILING_SOME) {
    const words = `${percent(failed / requests)} of requests failed in the last minute (5xx): ${of(failed, requests)}.`;
    troubles.push(failed / requests >= FAILING ? bad('requests', words) : warn('requests', words));
  }
  if (limited / requests >= REFUSING) {
    const words = `Limits refused ${percent(limited / requests)} of requests in the last minute: ${of(limited, requests)}.`;
    troubles.push(warn('top-clients', words));
  }
  return troubles;
}

const bad = (view: Trouble['view'], words: string): Trouble => ({ tone: 'bad', view, words });
const warn = (view: Trouble['view'], words: string): Trouble => ({ tone: 'warn', view, words });
const ofConfiguration = ({ kind, words }: ConfigurationProblem): Trouble => ({
  tone: kind === 'reload' ? 'bad' : 'warn',
  words,
  view: kind === 'difference' ? 'gateways' : 'configuration',
});
const of = (part: number, all: number) => `${number(part)} of ${number(all)}`;
