import { readVersion } from '../common/version.ts';
import { gatewayName, type Self } from '../observe/peers/peers.ts';
import {
  answerOf,
  type GatewaySources,
  isQuery,
} from '../observe/peers/queries.ts';
import type { GatewayStatus, Readiness } from '../observe/peers/status.ts';
import type { Operating } from './operating.ts';
import type { Processes } from './processes.ts';
import { configurationStatus, gatewayConditions } from './status.ts';

interface AnsweringParts extends Pick<GatewayStatus, 'startedAt' | 'workers'> {
  readonly processes: Processes;
  readonly readiness: () => Readiness;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly operating: Operating;
  /** `null`: before the start. */
  readonly started: { readonly url: string; readonly adminUrl: string } | null;
}

const VERSION = readVersion();

/** Answers the gateway's own processes and its peers. The parts may be created later. */
export function answersOf(parts: () => AnsweringParts): Self {
  const sources: GatewaySources = {
    status() {
      const { processes, operating, started, startedAt, clock } = parts();
      const { readiness, workers } = parts();
      const now = clock();
      const cacheAge = Math.min(
        now - startedAt,
        processes.storage.keyCacheAge?.() ?? 0,
      );
      return {
        version: VERSION,
        node: process.version,
        url: started?.url ?? null,
        adminUrl: started?.adminUrl ?? null,
        state: processes.storage.kind,
        workers,
        startedAt,
        readiness: readiness(),
        configuration: configurationStatus(operating.reloader),
        conditions: gatewayConditions(operating.reloader, { now, cacheAge }),
      };
    },
  };

  return {
    name: gatewayName(),
    answer: (name, argument) =>
      isQuery(name)
        ? answerOf(name, argument, sources, parts().processes.ask)
        : null,
  };
}
