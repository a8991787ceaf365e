import type { ClientError, OpenerOptions, Pool } from '@storegate/http1';
import type { ClientTls } from '@storegate/http1/tls';
import type { StoreAddress, Upstream as UpstreamSettings } from '../../config/config.ts';
import { DEFAULT_UPSTREAM, storeLabel } from '../../config/upstreams.ts';
import type { Observe, StoreName } from '../../observe/events.ts';
import type { StoreStatus } from '../../observe/peers/status.ts';
import { Checks } from './checks.ts';
import { DnsResolver, isName } from './dns.ts';
import { failureOf } from './failures.ts';
import { Health, healthSettings } from './health.ts';
import { limitsOf, poolTo, tunnelLimitsOf, tunnelsTo } from './pools.ts';
import { isIn } from './probe.ts';
import { type StoreHandle, StoreWentDown } from './upstream.ts';

export interface Surroundings {
  readonly observe: Observe;
  readonly mayGo: (store: Store) => boolean;
}

export class Store implements StoreHandle {
  readonly url: string;
  readonly name: string;
  readonly upstream: string;
  #identity: StoreName;
  readonly pool: Pool;
  readonly #secure: Pick<OpenerOptions, 'tls' | 'lookup'>;
  readonly health: Health;
  readonly #checks: Checks;
  readonly #dns: DnsResolver | null;
  #surroundings: Surroundings;
  readonly #mayGo = (): boolean => this.#surroundings.mayGo(this);
  #weight: number;
  #settings: UpstreamSettings;
  #tls: ClientTls;
  #tunnels: Pool | null = null;
  #tunnel: StoreHandle | null = null;
  #requests = 0;
  #failures = 0;
  #retries = 0;

  constructor(
    upstream: string,
    { url, weight }: StoreAddress,
    settings: UpstreamSettings,
    tls: ClientTls,
    surroundings: Surroundings,
  ) {
    const { hostname: host } = new URL(url);
    this.url = url;
    this.name = storeLabel(url);
    this.upstream = upstream;
    this.#identity = identityOf(upstream, this.name, settings);
    this.#weight = weight;
    this.#settings = settings;
    this.#tls = tls;
    this.#surroundings = surroundings;
    const moved = (addresses: ReadonlySet<string>) => this.#keepOnly(addresses);
    this.#dns = isName(host) ? new DnsResolver({ host, every: settings.dnsRefresh, moved }) : null;
    const secure = { tls: () => this.#tls, lookup: this.#dns?.lookup };
    this.pool = poolTo(url, limitsOf(settings), secure);
    this.#secure = secure;
    this.health = new Health(healthSettings(settings), performance.now());
    this.#checks = new Checks({
      url,
      secure,
      settings,
      health: this.health,
      onResult: (verdict, error) => {
        if (this.health.checked(verdict, performance.now(), this.#mayGo)) this.#report(error);
        else if (this.health.ignoresChecks)
          this.#surroundings.observe({
            type: 'upstream.check_failed',
            upstream: this.upstream,
            store: this.name,
            error,
          });
      },
      ticked: () => {
        if (this.health.tick(performance.now())) this.#report();
      },
    });
  }

  /** WebSocket connections last for hours, so they are not pooled with the others. */
  get tunnel(): StoreHandle {
    this.#tunnel ??= this.#createTunnel();
    return this.#tunnel;
  }

  get identity(): StoreName {
    return this.#identity;
  }

  get weight(): number {
    return this.#weight;
  }

  get load(): number {
    return this.pool.load;
  }

  get isTrial(): boolean {
    return this.health.isTrial;
  }

  get status(): StoreStatus {
    const { name: store, upstream, weight, health } = this;
    const connections = this.pool.status;
    return {
      upstream,
      store,
      weight,
      state: health.state,
      since: Math.round(performance.timeOrigin + (health.state === 'away' ? health.downSince : health.since)),
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
    if (!this.#isFailure(status) && this.health.begun(epoch, now)) this.#report();
  }

  answered(status: number, epoch: number, now: number): void {
    const isFailure = this.#isFailure(status);
    if (isFailure) this.#failures++;
    const changed = isFailure ? this.health.bad('statuses', epoch, now, this.#mayGo) : this.health.good(epoch, now);
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
    if (this.health.bad(failure, epoch, performance.now(), this.#mayGo)) this.#report(error);
  }

  cancelled(epoch: number): void {
    this.health.cancelled(epoch);
  }

  retried(): void {
    this.#retries++;
  }

  use({ weight }: StoreAddress, settings: UpstreamSettings, tls: ClientTls, surroundings: Surroundings): void {
    this.#weight = weight;
    this.#settings = settings;
    this.#identity = identityOf(this.upstream, this.name, settings);
    this.#tls = tls;
    this.#surroundings = surroundings;
    this.pool.use(limitsOf(settings));
    this.#tunnels?.use(tunnelLimitsOf(settings));
    this.health.use(healthSettings(settings));
    this.#checks.use(settings);
    this.#dns?.use(settings.dnsRefresh);
  }

  retire(): void {
    this.pool.retire();
    this.#tunnels?.retire();
    this.#letGo();
    const { upstream, name: store, health } = this;
    const { observe } = this.#surroundings;
    // Listeners would wait forever for its return.
    this.#surroundings = { ...this.#surroundings, observe: () => {} };
    if (health.state === 'up') return;
    const duration = Math.round(performance.now() - health.downSince);
    observe({ type: 'upstream.up', upstream, store, duration, removed: true });
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

  #createTunnel(): StoreHandle {
    const store = this;
    this.#tunnels = tunnelsTo(this.url, this.#settings, this.#secure);
    return {
      upstream: this.upstream,
      name: this.name,
      pool: this.#tunnels,
      get identity() {
        return store.identity;
      },
      get isTrial() {
        return store.isTrial;
      },
      begin: (operation) => this.begin(operation),
      begun: (status, epoch, now) => this.begun(status, epoch, now),
      answered: (status, epoch, now) => this.answered(status, epoch, now),
      failed: (error, epoch) => this.failed(error, epoch),
      cancelled: (epoch) => this.cancelled(epoch),
      retried: () => this.retried(),
    };
  }

  #letGo(): void {
    this.#checks.close();
    this.#dns?.close();
  }

  #keepOnly(addresses: ReadonlySet<string>): void {
    this.pool.keepOnly(addresses);
    this.#checks.keepOnly(addresses);
  }

  #report(error?: unknown): void {
    const { upstream, name: store, health } = this;
    const { observe } = this.#surroundings;
    if (health.state === 'up') {
      const duration = Math.round(health.since - health.downSince);
      observe({ type: 'upstream.up', upstream, store, duration });
    } else if (health.state === 'away') {
      if (health.failedReturns === 0)
        observe({ type: 'upstream.down', upstream, store, reason: health.reason!, error });
      this.pool.renew(new StoreWentDown());
    }
    observe({ type: 'upstream.state', upstream, store });
    this.#checks.turn();
  }
}

function identityOf(upstream: string, store: string, { stores }: UpstreamSettings): StoreName {
  return { upstream, store, isSole: stores.length === 1 && upstream === DEFAULT_UPSTREAM };
}
