import type { ClientError, Pool } from '@storegate/http1';
import { type ClientTls, tlsTrouble } from '@storegate/http1/tls';
import type {
  BackendAddress,
  Upstream as UpstreamSettings,
} from '../../config/config.ts';
import { backendLabel, DEFAULT_UPSTREAM } from '../../config/upstreams.ts';
import type { BackendName, Observe } from '../../observe/events.ts';
import type { BackendStatus } from '../../observe/peers/status.ts';
import { createChecks, isIn } from './checks.ts';
import { createDnsResolver, isName } from './dns.ts';
import { createHealth, type Failure, type Verdict } from './health.ts';
import { limitsOf, poolTo, tunnelLimitsOf, tunnelsTo } from './pools.ts';
import { type BackendHandle, BackendWentDown } from './upstream.ts';

interface BackendParts {
  readonly upstream: string;
  readonly address: BackendAddress;
  readonly settings: UpstreamSettings;
  readonly tls: ClientTls;
  readonly observe: Observe;
  /** Whether enough others would remain without the backend of this URL. */
  readonly mayGo: (url: string) => boolean;
}

export function createBackend({
  upstream,
  address,
  mayGo: mayGoAt,
  observe: tell,
  ...initial
}: BackendParts) {
  const { url } = address;
  const { hostname: host } = new URL(url);
  let { settings, tls } = initial;
  let observe = tell;
  let { weight } = address;
  let identity = identityOf(upstream, url, settings);
  let tunnels: Pool | null = null;
  const counts = { requests: 0, failures: 0, retries: 0 };
  const mayGo = () => mayGoAt(url);
  const moved = (addresses: ReadonlySet<string>) => {
    pool.keepOnly(addresses);
    checks.keepOnly(addresses);
  };
  const dns = isName(host)
    ? createDnsResolver({ host, every: settings.dnsRefresh, moved })
    : null;
  const secure = { tls: () => tls, lookup: dns?.lookup };
  const pool = poolTo(url, limitsOf(settings), secure);
  const health = createHealth(settings, performance.now());
  const checks = createChecks({
    url,
    secure,
    settings,
    health,
    onResult: checked,
    ticked() {
      if (health.tick(performance.now())) report();
    },
  });

  return {
    url,
    pool,
    health,
    get identity() {
      return identity;
    },
    get weight() {
      return weight;
    },
    get tunnels() {
      tunnels ??= tunnelsTo(url, settings, secure);
      return tunnels;
    },
    get load() {
      return pool.load;
    },
    get isTrial() {
      return health.isTrial;
    },
    get status(): BackendStatus {
      const { state, since, downSince, reason } = health;
      const { backend } = identity;
      const connections = pool.status;
      return {
        upstream,
        backend,
        weight,
        state,
        since: Math.round(
          performance.timeOrigin + (state === 'down' ? downSince : since),
        ),
        reason,
        inFlight: connections.open - connections.idle,
        ...connections,
        ...counts,
      };
    },
    begin(operation) {
      counts.requests++;
      return health.begin(operation);
    },
    begun(status, epoch, now) {
      if (!isFailure(status) && health.begun(epoch, now)) report();
    },
    responded(status, epoch, now) {
      const isBad = isFailure(status);
      if (isBad) counts.failures++;
      const changed = isBad
        ? health.bad('statuses', epoch, now, mayGo)
        : health.good(epoch, now);
      if (changed) report(new Error(`it returned ${status}`));
    },
    failed(error, epoch) {
      const failure = failureOf(error);
      if (failure === null) {
        health.cancelled(epoch);
        return;
      }
      counts.failures++;
      if (error.failure === 'unreachable') dns?.doubt();
      if (health.bad(failure, epoch, performance.now(), mayGo)) report(error);
    },
    cancelled: (epoch) => health.cancelled(epoch),
    retried() {
      counts.retries++;
    },
    use(next: Pick<BackendParts, 'address' | 'settings' | 'tls'>): void {
      ({ settings, tls } = next);
      weight = next.address.weight;
      identity = identityOf(upstream, url, settings);
      pool.use(limitsOf(settings));
      tunnels?.use(tunnelLimitsOf(settings));
      health.use(settings);
      checks.use(settings);
      dns?.use(settings.dnsRefresh);
    },
    retire(): void {
      pool.retire();
      tunnels?.retire();
      letGo();
      // Listeners would wait forever for its return.
      observe = () => {};
      if (health.state === 'up') return;
      const { backend } = identity;
      const duration = Math.round(performance.now() - health.downSince);
      tell({
        type: 'upstream.up',
        upstream,
        backend,
        duration,
        removed: true,
      });
    },
    close(): void {
      pool.close();
      tunnels?.close();
      letGo();
    },
  } satisfies BackendHandle & Record<string, unknown>;

  function isFailure(status: number): boolean {
    const { statuses } = settings.ejection;
    return statuses.length > 0 && isIn(status, statuses);
  }

  function checked(verdict: Verdict, error: unknown): void {
    const { backend } = identity;
    if (health.checked(verdict, performance.now(), mayGo)) report(error);
    else if (health.ignoresChecks)
      observe({ type: 'upstream.check_failed', upstream, backend, error });
  }

  function letGo(): void {
    checks.close();
    dns?.close();
  }

  function report(error?: unknown): void {
    const { state, since, downSince, failedReturns, reason } = health;
    const { backend } = identity;
    if (state === 'up') {
      const duration = Math.round(since - downSince);
      observe({ type: 'upstream.up', upstream, backend, duration });
    } else if (state === 'down') {
      if (failedReturns === 0)
        observe({
          type: 'upstream.down',
          upstream,
          backend,
          reason: reason!,
          error,
        });
      pool.renew(new BackendWentDown());
    }
    observe({ type: 'upstream.state', upstream, backend });
    checks.turn();
  }
}

export type Backend = ReturnType<typeof createBackend>;

function identityOf(
  upstream: string,
  url: string,
  { backends }: UpstreamSettings,
): BackendName {
  return {
    upstream,
    backend: backendLabel(url),
    isSole: backends.length === 1 && upstream === DEFAULT_UPSTREAM,
  };
}

/** `null`: the client caused the error. */
function failureOf({ failure, cause }: ClientError): Failure | null {
  if (failure === 'body' || failure === 'slow_reader') return null;
  if (tlsTrouble(cause) !== null) return 'untrusted';
  return failure === 'too_slow' ? 'hanging' : failure;
}
