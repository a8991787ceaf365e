import type { Health } from '@storegate/admin-api';
import {
  type GatewayFacts,
  type HealthFacts,
  judgeHealth,
  type RecentTraffic,
} from '@storegate/admin-api/text';
import { MINUTE } from '../common/time.ts';
import { backendsOfAll } from '../observe/peers/backends.ts';
import type { PeerResponses } from '../observe/peers/peers.ts';
import type { Condition, GatewayStatus } from '../observe/peers/status.ts';
import { backendView, time } from './view.ts';

type StatusResponse = PeerResponses<GatewayStatus>['responses'][number];
type Differing = GatewayFacts['differs'];
type Part = Differing[number];

const COMPARED: readonly Part[] = ['settings', 'plans', 'contract'];
const NO_TRAFFIC: RecentTraffic = { requests: 0, failed: 0, refused: 0 };

/** Milliseconds for which a replaced gateway is listed. */
const REPLACED_MEMORY = 5 * MINUTE;

/** All but the client, which only the ledger knows. `now`: Unix milliseconds. */
export function healthFacts(
  { responses, unresponsive, lost, isolated }: PeerResponses<GatewayStatus>,
  now: number,
): Omit<HealthFacts, 'mostRefused'> {
  const statuses = responses.map(({ response }) => response);
  const usual = COMPARED.map((part) =>
    mostFrequent(statuses.map(({ configuration }) => configuration[part])),
  );
  const differs = (status: GatewayStatus) =>
    COMPARED.filter((part, i) => status.configuration[part] !== usual[i]);
  const processes = statuses.flatMap((status) => status.processes);
  const seen = responses.map(({ gateway, response }) => ({
    gateway,
    processes: response.processes,
  }));
  return {
    unresponsive,
    isolated,
    gateways: responses.map((one) => gatewayFacts(one, differs(one.response))),
    lost: lostGateways(lost, responses, now),
    backends: backendsOfAll(seen).map(backendView),
    traffic: sumOf(processes.map(({ traffic = NO_TRAFFIC }) => traffic)),
  };
}

/** As one gateway sees itself. */
export const ownHealth = (
  gateway: string,
  response: GatewayStatus,
  now: number,
): Health =>
  judgeHealth({
    ...healthFacts(
      {
        responses: [{ gateway, response }],
        unresponsive: [],
        lost: [],
        isolated: null,
      },
      now,
    ),
    mostRefused: null,
  });

function gatewayFacts(
  { gateway, response }: StatusResponse,
  differs: Differing,
): GatewayFacts {
  const { startedAt, readiness, workers, processes, conditions } = response;
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
  lost: PeerResponses<unknown>['lost'],
  responses: readonly StatusResponse[],
  now: number,
) {
  const free = new Set(responses);
  const startedAfter = (at: number) =>
    [...free].find(({ response }) => response.startedAt > at) ?? null;
  const found = lost
    .toSorted((one, other) => one.at - other.at)
    .map(({ gateway, at }) => {
      const here = responses.find(
        (one) =>
          one.response.startedAt > at &&
          machineOf(one.gateway) === machineOf(gateway),
      );
      const replacement = here ?? startedAfter(at);
      if (replacement !== null) free.delete(replacement);
      return { gateway, at, replaced: replacement?.response.startedAt ?? null };
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
