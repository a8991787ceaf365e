import { shortDigest } from '../common/digest.ts';
import type { Config, ServedConfig } from '../config/config.ts';
import { NO_CONTRACT } from '../config/contract/place.ts';
import { describeConfig } from '../config/describe.ts';
import { sumOfConnections } from '../observe/peers/backends.ts';
import type { ConfigurationStatus, ProcessStatus } from '../observe/peers/status.ts';
import type { ProcessHealth } from './process-health.ts';
import { type ActiveConfig, copyIn, plansText, type Reloader } from './reload.ts';
import type { Serving } from './serving.ts';

/** Gateways that differ only in these treat requests alike. */
const OF_ONE_MACHINE =
  /^((listen|admin|log|files)\.|(data|workers|contract\.file)$|tracing\.(endpoint|tracesEndpoint|exporter|headers|certificate|clientCertificate|clientKey|serviceName|resourceAttributes)$)/;

export function processStatus(
  worker: number | null,
  serving: Serving,
  { ofState }: ProcessHealth,
): ProcessStatus {
  const { inFlight, upstreams } = serving;
  const connections = { backend: sumOfConnections(upstreams.status), backends: upstreams.status };
  return {
    worker,
    pid: process.pid,
    inFlight,
    memory: process.memoryUsage.rss(),
    ...ofState,
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

/** Of all that decides about requests, for comparison between gateways. */
export function digestsOf({ config, contract }: ActiveConfig<Config>) {
  const settings = describeConfig(config).filter(({ name }) => !OF_ONE_MACHINE.test(name));
  return {
    settings: shortDigest(JSON.stringify(settings.map(({ name, value }) => [name, value]))),
    plans: shortDigest(plansText(config.plans)),
    contract:
      config.contract.file === NO_CONTRACT ? NO_CONTRACT : shortDigest(contract.fingerprint),
  };
}
