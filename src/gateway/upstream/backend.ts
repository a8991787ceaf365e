import type { ClientError, OpenerOptions, Pool } from '@storegate/http1';
import { type ClientTls, tlsTrouble } from '@storegate/http1/tls';
import type {
  BackendAddress,
  Upstream as UpstreamSettings,
} from '../../config/config.ts';
import { backendLabel, DEFAULT_UPSTREAM } from '../../config/upstreams.ts';
import type { BackendName, Observe } from '../../observe/events.ts';
import type { BackendStatus } from '../../observe/peers/status.ts';
import { Checks, isIn } from './checks.ts';
import { DnsResolver, isName } from './dns.ts';
import { type Failure, Health, type Verdict } from './health.ts';
import { limitsOf, poolTo, tunnelLimitsOf, tunnelsTo } from './pools.ts';
import { type BackendHandle, BackendWentDown } from './upstream.ts';

export class Backend implements BackendHandle {
  readonly url: string;
  identity: BackendName;
  weight: number;
  readonly pool: Pool;
  readonly health: Health;
  readonly #secure: Pick<OpenerOptions, 'tls' | 'lookup'>;
  readonly #checks: Checks;
  readonly #dns: DnsResolver | null;
  #observe: Observe;
  readonly #mayGo: () => boolean;
  #settings: UpstreamSettings;
  #tls: ClientTls;
  #tunnels: Pool | null = null;
  #requests = 0;
  #failures = 0;
  #retries = 0;

  constructor(
    upstream: string,
    { url, weight }: BackendAddress,
    settings: UpstreamSettings,
    tls: ClientTls,
    observe: Observe,
    mayGo: (backend: Backend) => boolean,
  ) {
    const { hostname: host } = new URL(url);
    this.url = url;
    this.identity = identityOf(upstream, backendLabel(url), settings);
    this.weight = weight;
    this.#settings = settings;
    this.#tls = tls;
    this.#observe = observe;
    this.#mayGo = () => mayGo(this);
    const moved = (addresses: ReadonlySet<string>) => {
      this.pool.keepOnly(addresses);
      this.#checks.keepOnly(addresses);
    };
    this.#dns = isName(host)
      ? new DnsResolver({ host, every: settings.dnsRefresh, moved })
      : null;
    this.#secure = { tls: () => this.#tls, lookup: this.#dns?.lookup };
    this.pool = poolTo(url, limitsOf(settings), this.#secure);
    this.health = new Health(settings, performance.now());
    this.#checks = new Checks({
      url,
      secure: this.#secure,
      settings,
      health: this.health,
      onResult: (verdict, error) => this.#checked(verdict, error),
      ticked: () => {
        if (this.health.tick(performance.now())) this.#report();
      },
    });
  }

  get tunnels(): Pool {
    this.#tunnels ??= tunnelsTo(this.url, this.#settings, this.#secure);
    return this.#tunnels;
  }

  get load(): number {
    return this.pool.load;
  }

  get isTrial(): boolean {
    return this.health.isTrial;
  }

  get status(): BackendStatus {
    const { weight, health } = this;
    const { upstream, backend } = this.identity;
    const connections = this.pool.status;
    return {
      upstream,
      backend,
      weight,
      state: health.state,
      since: Math.round(
        performance.timeOrigin +
          (health.state === 'down' ? health.downSince : health.since),
      ),
      reason: health.reason,
      inFlight: connections.open - connections.idle,
      ...connections,
      requests: this.#requests,
      failures: this.#failures,
      retries: this.#retries,
    };
  }

  begin(operation: string): number {
    this.#requests++;
    return this.health.begin(operation);
  }

  begun(status: number, epoch: number, now: number): void {
    if (!this.#isFailure(status) && this.health.begun(epoch, now))
      this.#report();
  }

  answered(status: number, epoch: number, now: number): void {
    const isFailure = this.#isFailure(status);
    if (isFailure) this.#failures++;
    const changed = isFailure
      ? this.health.bad('statuses', epoch, now, this.#mayGo)
      : this.health.good(epoch, now);
    if (changed) this.#report(new Error(`it answered ${status}`));
  }

  failed(error: ClientError, epoch: number): void {
    const failure = failureOf(error);
    if (failure === null) {
      this.health.cancelled(epoch);
      return;
    }
    this.#failures++;
    if (error.failure === 'unreachable') this.#dns?.doubt();
    if (this.health.bad(failure, epoch, performance.now(), this.#mayGo))
      this.#report(error);
  }

  cancelled(epoch: number): void {
    this.health.cancelled(epoch);
  }

  retried(): void {
    this.#retries++;
  }

  use(
    { weight }: BackendAddress,
    settings: UpstreamSettings,
    tls: ClientTls,
  ): void {
    this.weight = weight;
    this.identity = identityOf(
      this.identity.upstream,
      this.identity.backend,
      settings,
    );
    this.#settings = settings;
    this.#tls = tls;
    this.pool.use(limitsOf(settings));
    this.#tunnels?.use(tunnelLimitsOf(settings));
    this.health.settings = settings;
    this.#checks.use(settings);
    this.#dns?.use(settings.dnsRefresh);
  }

  retire(): void {
    this.pool.retire();
    this.#tunnels?.retire();
    this.#letGo();
    const { health } = this;
    const { upstream, backend } = this.identity;
    const observe = this.#observe;
    // Listeners would wait forever for its return.
    this.#observe = () => {};
    if (health.state === 'up') return;
    const duration = Math.round(performance.now() - health.downSince);
    observe({
      type: 'upstream.up',
      upstream,
      backend,
      duration,
      removed: true,
    });
  }

  close(): void {
    this.pool.close();
    this.#tunnels?.close();
    this.#letGo();
  }

  #isFailure(status: number): boolean {
    const { statuses } = this.#settings.ejection;
    return statuses.length > 0 && isIn(status, statuses);
  }

  #checked(verdict: Verdict, error: unknown): void {
    const { upstream, backend } = this.identity;
    if (this.health.checked(verdict, performance.now(), this.#mayGo))
      this.#report(error);
    else if (this.health.ignoresChecks)
      this.#observe({
        type: 'upstream.check_failed',
        upstream,
        backend,
        error,
      });
  }

  #letGo(): void {
    this.#checks.close();
    this.#dns?.close();
  }

  #report(error?: unknown): void {
    const { health } = this;
    const { upstream, backend } = this.identity;
    if (health.state === 'up') {
      const duration = Math.round(health.since - health.downSince);
      this.#observe({ type: 'upstream.up', upstream, backend, duration });
    } else if (health.state === 'down') {
      if (health.failedReturns === 0)
        this.#observe({
          type: 'upstream.down',
          upstream,
          backend,
          reason: health.reason!,
          error,
        });
      this.pool.renew(new BackendWentDown());
    }
    this.#observe({ type: 'upstream.state', upstream, backend });
    this.#checks.turn();
  }
}

function identityOf(
  upstream: string,
  backend: string,
  { backends }: UpstreamSettings,
): BackendName {
  return {
    upstream,
    backend,
    isSole: backends.length === 1 && upstream === DEFAULT_UPSTREAM,
  };
}

/** `null`: the client caused the error. */
function failureOf({ failure, cause }: ClientError): Failure | null {
  if (failure === 'body' || failure === 'slow_reader') return null;
  if (tlsTrouble(cause) !== null) return 'untrusted';
  return failure === 'too_slow' ? 'hanging' : failure;
}
