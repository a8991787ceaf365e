import type { Connections, Decision, Readiness, Step, Store } from '@storegate/console';
import type { PeerAnswers } from '../observe/peers/peers.ts';
import type { Readiness as PeerReadiness } from '../observe/peers/readiness.ts';
import type { DecisionView, ListedRequest } from '../observe/peers/requests.ts';
import type { StoreConnections } from '../observe/peers/status.ts';
import type { StoreOfAll } from '../observe/peers/stores.ts';

// Gateways of different versions exchange these values, so their names stay.

const READINESS: Readonly<Record<PeerReadiness, Readiness>> = {
  ready: 'ready',
  stopping: 'stopping',
  state_away: 'state_down',
  stores_away: 'upstreams_down',
  no_worker: 'no_workers',
};

const STATES: Readonly<Record<StoreOfAll['state'], Store['state']>> = {
  up: 'up',
  returning: 'recovering',
  away: 'down',
  partly: 'partial',
};

export const readinessOf = (readiness: PeerReadiness): Readiness => READINESS[readiness];

export const stateOf = <S extends StoreOfAll['state']>(state: S) =>
  STATES[state] as S extends 'partly' ? Store['state'] : Exclude<Store['state'], 'partial'>;

export const coverageOf = ({ silent, apart }: Pick<PeerAnswers<unknown>, 'silent' | 'apart'>) => ({
  unresponsive: silent,
  isolated: apart,
});

export const shownConnections = ({ open, idle, waiting, most }: StoreConnections): Connections => ({
  open,
  idle,
  waiting,
  limit: most,
});

export function shownListed<R extends Pick<ListedRequest, 'step' | 'more'>>({ step, more, ...rest }: R) {
  return { ...rest, step: shownStep(step), repeated: more };
}

const shownStep = (step: ListedRequest['step']): Step => (step === 'door' ? 'http' : step);

export function shownDecision({ by, banBegan, rung, ...rest }: DecisionView) {
  const decidedBy: Decision['by'] = by === 'alone' ? 'local' : by;
  return { ...rest, by: decidedBy, banStarted: banBegan, level: rung };
}
