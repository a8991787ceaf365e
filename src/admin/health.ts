import type { Health } from '@storegate/admin-api';
import {
  type GatewayFacts,
  type HealthFacts,
  judgeHealth,
  type RecentTraffic,
} from '@storegate/admin-api/words';
import { MINUTE } from '../common/time.ts';
import { backendsOfAll } from '../observe/peers/backends.ts';
import type { PeerAnswers } from '../observe/peers/peers.ts';
import type { Condition, GatewayStatus } from '../observe/peers/status.ts';
import { backendView, time } from './view.ts';

type StatusAnswer = PeerAnswers<GatewayStatus>['answers'][number];
type Differing = GatewayFacts['differs'];
type Part = Differing[number];

const COMPARED: readonly Part[] = ['settings', 'plans', 'contract'];
const NO_TRAFFIC: RecentTraffic = { requests: 0, failed: 0, refused: 0 };

/** Milliseconds for which a replaced gateway is listed. */
const REPLACED_MEMORY = 5 * MINUTE;

/** All but the client, which only the ledger knows. `now`: Unix milliseconds. */
export function healthFacts(
  { answers, unresponsive, lost, isolated }: PeerAnswers<GatewayStatus>,
  now: number,
): Omit<HealthFacts, 'mostRefused'> {
  const statuses = answers.map(({ answer }) => answer);
  const usual = COMPARED.map((part) =>
    mostFrequent(statuses.map(({ configuration }) => configuration[part])),
  );
  const differs = (status: GatewayStatus) =>
    COMPARED.filter((part, i) => status.configuration[part] !== usual[i]);
  const processes = statuses.flatMap((status) => status.processes);
  const seen = answers.map(({ gateway, answer }) => ({
    gateway,
    processes: answer.processes,
  }));
  return {
    unresponsive,
    isolated,
    gateways: answers.map((one) => gatewayFacts(one, differs(one.answer))),
    lost: lostGateways(lost, answers, now),
    backends: backendsOfAll(seen).map(backendView),
    traffic: sumOf(processes.map(({ traffic = NO_TRAFFIC }) => traffic)),
  };
}

/** As one gateway sees itself. */
export const ownHealth = (
  gateway: string,
  answer: GatewayStatus,
  now: number,
): Health =>
  judgeHealth({
    ...healthFacts(
      {
        answers: [{ gateway, answer }],
        unresponsive: [],
        lost: [],
        isolated: null,
      },
      now,
    ),
    mostRefused: null,
  });

function gatewayFacts(
  { gateway, answer }: StatusAnswer,
  differs: Differing,
): GatewayFacts {
  const { startedAt, readiness, workers, processes, conditions } = answer;
  const all = [
    ...conditions,
    ...processes.flatMap((process) => process.conditions),
  ];
  return {
    gateway,
    started: time(startedAt),
    readiness,
    workers,
    processes: processes.length,
    differs,
    conditions: all.map(conditionView),
  };
}

const conditionView = ({ since, ...rest }: Condition) => ({
  ...rest,
  since: time(since),
});

/** Ties go to the first. */
function mostFrequent(values: readonly string[]): string | undefined {
  const groups = [...Map.groupBy(values, (value) => value)];
  return groups.sort(([, one], [, other]) => other.length - one.length)[0]?.[0];
}

/**
 * Each gateway that started after the last message of a lost gateway replaces it: on the same
 * machine all of them, as each restart there has a new name, elsewhere one.
 */
function lostGateways(
  lost: PeerAnswers<unknown>['lost'],
  answers: readonly StatusAnswer[],
  now: number,
) {
  const free = new Set(answers);
  const startedAfter = (at: number) =>
    [...free].find(({ answer }) => answer.startedAt > at) ?? null;
  const found = lost
    .toSorted((one, other) => one.at - other.at)
    .map(({ gateway, at }) => {
      const here = answers.find(
        (one) =>
          one.answer.startedAt > at &&
          machineOf(one.gateway) === machineOf(gateway),
      );
      const replacement = here ?? startedAfter(at);
      if (replacement !== null) free.delete(replacement);
      return { gateway, at, replaced: replacement?.answer.startedAt ?? null };
    });
  return found
    .filter(
      ({ replaced }) => replaced === null || now - replaced <= REPLACED_MEMORY,
    )
    .map(({ gateway, at, replaced }) => ({
      gateway,
      at: time(at),
      replaced: time(replaced),
    }));
}

/** The name of a gateway is its machine or container, and its process. */
const machineOf = (gateway: string): string => gateway.replace(/:[^:]*$/, '');

const sumOf = (all: readonly RecentTraffic[]): RecentTraffic =>
  all.reduce(
    (sum, { requests, failed, refused }) => ({
      requests: sum.requests + requests,
      failed: sum.failed + failed,
      refused: sum.refused + refused,
    }),
    NO_TRAFFIC,
  );
