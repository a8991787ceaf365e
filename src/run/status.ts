import { shortDigest } from '../common/digest.ts';
import { remembered } from '../common/remembered.ts';
import { DAY, MINUTE } from '../common/time.ts';
import { type Term, termWarning } from '../config/certificates.ts';
import type { Config, ServedConfig } from '../config/config.ts';
import { NO_CONTRACT } from '../config/contract/place.ts';
import { describeConfig } from '../config/describe.ts';
import type { Recorder } from '../ledger/recorder.ts';
import { sumOfConnections } from '../observe/peers/backends.ts';
import type {
  Condition,
  ConfigurationStatus,
  ProcessStatus,
} from '../observe/peers/status.ts';
import { rowText } from '../observe/traffic/packing.ts';
import type { Losses, ProcessHealth } from './process-health.ts';
import {
  type ActiveConfig,
  copyIn,
  plansText,
  type Reloader,
} from './reload.ts';
import type { Serving } from './serving.ts';

/** Gateways that differ only in these treat requests alike. */
const OF_ONE_MACHINE =
  /^((listen|admin|log|files)\.|(data|workers|contract\.file)$|tracing\.(endpoint|tracesEndpoint|exporter|headers|certificate|clientCertificate|clientKey|serviceName|resourceAttributes)$)/;

export function processStatus(
  worker: number | null,
  serving: Serving,
  health: ProcessHealth,
  losses: Losses,
  { recent, total }: Pick<Recorder, 'recent' | 'total'>,
): ProcessStatus {
  const { inFlight, upstreams } = serving;
  const connections = {
    backend: sumOfConnections(upstreams.status),
    backends: upstreams.status,
  };
  return {
    worker,
    pid: process.pid,
    inFlight,
    memory: process.memoryUsage.rss(),
    ...health.ofState,
    conditions: health.conditions(losses),
    traffic: recent,
    counted: rowText(total),
    ...connections,
  };
}

export function configurationStatus({
  current,
  waiting,
  last,
}: Reloader<ServedConfig>): ConfigurationStatus {
  return {
    ...digestsOf(current),
    copy: copyIn(current),
    waiting,
    lastReload: last,
  };
}

/** Milliseconds: certificates must be renewed before, and key caches synchronized. */
const CERTIFICATE_NOTICE = 7 * DAY;
const KEY_CACHE_AGE = 30 * MINUTE;

/**
 * What a gateway reports of itself besides its processes. `cacheAge`: milliseconds, at most since
 * the start of the gateway.
 */
export function gatewayConditions(
  { current, waiting, last }: Reloader<ServedConfig>,
  { now, cacheAge }: { readonly now: number; readonly cacheAge: number },
): Condition[] {
  const copy = copyIn(current);
  const conditions = current.certificates.terms.flatMap((term) =>
    certificateCondition(term, now),
  );
  if (last !== null && last.problems.length > 0)
    conditions.push({
      type: 'reload_refused',
      since: last.at,
      detail: last.problems.join('; '),
    });
  if (copy !== null)
    conditions.push({
      type: 'contract_copy',
      since: copy.at,
      detail: copy.reason,
    });
  if (cacheAge > KEY_CACHE_AGE)
    conditions.push({
      type: 'key_cache_old',
      since: now - cacheAge,
      detail: '',
    });
  if (waiting.length > 0)
    conditions.push({
      type: 'restart_pending',
      since: null,
      detail: waiting.join(', '),
    });
  return conditions;
}

function certificateCondition(term: Term, now: number): Condition[] {
  const { setting, notBefore, notAfter } = term;
  const detail = termWarning(term, now, CERTIFICATE_NOTICE);
  if (detail === null) return [];
  if (notBefore <= now && now < notAfter)
    return [
      {
        type: 'certificate_expires',
        since: notAfter - CERTIFICATE_NOTICE,
        detail,
      },
    ];
  const since = notAfter <= now ? notAfter : null;
  // Only clients of the public listener are refused.
  const isPublic = setting.startsWith('listen.');
  return [
    {
      type: isPublic ? 'listener_certificate' : 'certificate_expired',
      since,
      detail,
    },
  ];
}

/** Digest of all that decides about requests, for comparison between gateways. */
export const digestsOf = remembered(
  ({ config, contract }: ActiveConfig<Config>) => {
    const settings = describeConfig(config).filter(
      ({ name }) => !OF_ONE_MACHINE.test(name),
    );
    return {
      settings: shortDigest(
        JSON.stringify(settings.map(({ name, value }) => [name, value])),
      ),
      plans: shortDigest(plansText(config.plans)),
      contract:
        config.contract.file === NO_CONTRACT
          ? NO_CONTRACT
          : shortDigest(contract.fingerprint),
    };
  },
);
