import type { Gateway, LiveGateway, LiveNow, Status, Store } from '../../../admin-api.ts';
import { reasonInWords, stateInWords } from '../../stores.ts';
import { clockTime, number, percent, plural } from '../../words.ts';
import { type Sum, sumOf } from './outcomes.ts';

/** Something that is not as it should be. */
export interface Trouble {
  readonly tone: 'bad' | 'warn';
  readonly words: string;
  /** The view that tells more of it. */
  readonly view: 'gateways' | 'requests' | 'top' | 'configuration';
}

/** Milliseconds of which shares are told, and the fewest requests that make one. */
const LATELY = 60_000;
const FEWEST = 20;
/** Shares of requests: of failed ones, and of those that limits refuse. */
const FAILING = 0.01;
const FAILING_SOME = 0.001;
const REFUSING = 0.5;

/** All that is not well, the worst first. `ticks`: the newest last; `status`: `null` while it is not known. */
export function troublesIn(ticks: readonly LiveNow[], status: Status | null): readonly Trouble[] {
  const now = ticks.at(-1);
  const troubles = [
    ...(now === undefined
      ? []
      : [
          ...ofFleet(now),
          ...ofStores(now.stores),
          ...now.gateways.flatMap(ofGateway),
          ...ofRequests(sumOf(ticks, LATELY)),
        ]),
    ...(status?.lost ?? []).map(({ gateway, at }) =>
      bad('gateways', `${gateway} was last heard ${clockTime(at)} and did not stop.`),
    ),
    ...(status?.gateways ?? []).flatMap(ofConfiguration),
  ];
  return troubles.sort((one, other) => Number(one.tone === 'warn') - Number(other.tone === 'warn'));
}

function ofFleet({ gateways, silent, apart }: LiveNow): Trouble[] {
  const troubles: Trouble[] = silent.map((name) => bad('gateways', `${name} does not answer.`));
  if (apart !== null) troubles.push(bad('gateways', `Other gateways cannot be asked: ${apart}`));
  if (gateways.length === 0) troubles.push(bad('gateways', 'No gateway answers.'));
  return troubles;
}

function ofGateway({ gateway, readiness, aloneSince, workers, processes, store }: LiveGateway): Trouble[] {
  const troubles: Trouble[] = [];
  const missing = workers - processes;
  if (readiness === 'stopping') troubles.push(warn('gateways', `${gateway} is stopping.`));
  if (readiness === 'no_worker') troubles.push(bad('gateways', `${gateway} has no worker: it answers nobody.`));
  else if (workers > 0 && missing > 0)
    troubles.push(
      bad(
        'gateways',
        `${gateway}: ${missing} of ${plural(workers, 'worker')} ${missing === 1 ? 'does' : 'do'} not answer.`,
      ),
    );
  if (aloneSince !== null)
    troubles.push(
      bad('gateways', `${gateway} decides without the shared state, which is away since ${clockTime(aloneSince)}.`),
    );
  else if (readiness === 'state_away')
    troubles.push(bad('gateways', `${gateway} takes no requests: the shared state is away.`));
  if (readiness === 'stores_away')
    troubles.push(bad('gateways', `${gateway} is not ready: all stores of an upstream are away.`));
  if (store.waiting > 0) {
    const use = `${number(store.open - store.idle)} of ${number(store.most)} are in use`;
    troubles.push(
      warn('gateways', `${gateway}: ${plural(store.waiting, 'request')} wait for a connection to the store, ${use}.`),
    );
  }
  return troubles;
}

/** A store that is back and gets its share little by little is no trouble. */
function ofStores(stores: readonly Store[]): Trouble[] {
  return [...Map.groupBy(stores, ({ upstream }) => upstream)].flatMap(([upstream, all]) => {
    const away = all.filter(({ state }) => state === 'away');
    const partly = all.filter(({ state }) => state === 'partly');
    const told = [...away, ...partly].map((store) => {
      const words = `The store ${store.store} of ${upstream} is ${stateInWords(store)} since ${clockTime(store.since)}: ${reasonInWords(store)}.`;
      return away.length === all.length ? bad('gateways', words) : warn('gateways', words);
    });
    if (away.length < all.length || all.length === 1) return told;
    return [bad('gateways', `All ${all.length} stores of ${upstream} are away: nobody answers its requests.`), ...told];
  });
}

function ofRequests({ requests, failed, limited }: Sum): Trouble[] {
  if (requests < FEWEST)
    return failed > 0 ? [bad('requests', `${of(failed, requests)} failed in the last minute.`)] : [];
  const troubles: Trouble[] = [];
  if (failed / requests >= FAILING_SOME) {
    const words = `${percent(failed / requests)} of requests failed in the last minute (5xx): ${of(failed, requests)}.`;
    troubles.push(failed / requests >= FAILING ? bad('requests', words) : warn('requests', words));
  }
  if (limited / requests >= REFUSING)
    troubles.push(
      warn(
        'top',
        `Limits refused ${percent(limited / requests)} of requests in the last minute: ${of(limited, requests)}.`,
      ),
    );
  return troubles;
}

function ofConfiguration({ gateway, configuration: { differs, waiting, lastReload } }: Gateway): Trouble[] {
  const troubles: Trouble[] = [];
  if (lastReload && lastReload.problems.length > 0)
    troubles.push(
      bad(
        'configuration',
        `${gateway} refused its files at ${clockTime(lastReload.at)}: ${lastReload.problems.join('; ')}`,
      ),
    );
  if (differs.length > 0)
    troubles.push(warn('gateways', `${gateway} has other ${differs.join(', ')} than most gateways.`));
  if (waiting.length > 0) troubles.push(warn('configuration', `${gateway} needs a restart for ${waiting.join(', ')}.`));
  return troubles;
}

const bad = (view: Trouble['view'], words: string): Trouble => ({ tone: 'bad', view, words });
const warn = (view: Trouble['view'], words: string): Trouble => ({ tone: 'warn', view, words });
const of = (part: number, all: number) => `${number(part)} of ${number(all)}`;
