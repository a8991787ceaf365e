import type { Configuration, CountingGateway, Gateway, PeerCoverage, Store } from '../../admin-api.ts';
import { plural } from '../format.ts';
import { reasonInWords, stateInWords } from './stores.ts';

// Problems of gateways, for the console and the command line.

/** Formats a time of RFC 3339. */
export type WriteTime = (at: string) => string;

export const NO_GATEWAY = 'No gateway is running.';

/** The gateways that an answer lacks. */
export function missingGateways({ unresponsive, isolated }: PeerCoverage): string[] {
  return [
    ...unresponsive.map((gateway) => `${gateway} did not respond.`),
    ...(isolated === null ? [] : [`Other gateways are unreachable: ${isolated}`]),
  ];
}

/** The workers that an answer lacks. */
export function missingWorkers(gateways: readonly CountingGateway[]): string[] {
  return gateways
    .filter(({ missing }) => missing > 0)
    .map(({ gateway, missing }) => `${gateway}: ${plural(missing, 'worker')} did not respond.`);
}

export const lostGateway = ({ gateway, at }: { gateway: string; at: string }, time: WriteTime): string =>
  `${gateway} was last seen at ${time(at)} and did not shut down.`;

export const withoutRedis = (gateway: string, since: string, time: WriteTime): string =>
  `${gateway} has had no connection to Redis since ${time(since)}.`;

export const storeProblem = (store: Store, time: WriteTime): string =>
  `Store ${store.store} of ${store.upstream} is ${stateInWords(store)} since ${time(store.since)}: ${reasonInWords(store)}.`;

export interface ConfigurationProblem {
  readonly kind: 'reload' | 'copy' | 'difference' | 'restart';
  readonly words: string;
}

export function configurationProblems(
  { gateway, configuration }: Pick<Gateway, 'gateway' | 'configuration'>,
  time: WriteTime,
): ConfigurationProblem[] {
  const { differs, pendingRestart, lastReload, contractCopy }: Configuration = configuration;
  const problems: ConfigurationProblem[] = [];
  if (lastReload && lastReload.problems.length > 0) {
    const words = `${gateway} rejected its files at ${time(lastReload.at)}: ${lastReload.problems.join('; ')}`;
    problems.push({ kind: 'reload', words });
  }
  if (contractCopy) {
    const words = `${gateway} uses a copy of the contract from ${time(contractCopy.fetched)}: the URL ${contractCopy.reason}.`;
    problems.push({ kind: 'copy', words });
  }
  if (differs.length > 0)
    problems.push({ kind: 'difference', words: `${gateway} differs from most gateways in ${differs.join(', ')}.` });
  if (pendingRestart.length > 0)
    problems.push({ kind: 'restart', words: `${gateway} needs a restart for ${pendingRestart.join(', ')}.` });
  return problems;
}
