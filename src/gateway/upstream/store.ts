import type { ClientError, OpenerOptions, Pool } from '@storegate/http1';
import type { ClientTls } from '@storegate/http1/tls';
import type { StoreAddress, Upstream as UpstreamSettings } from '../../config/config.ts';
import { DEFAULT_UPSTREAM, storeLabel } from '../../config/upstreams.ts';
import type { Observe, StoreName } from '../../observe/events.ts';
import type { StoreStatus } from '../../observe/peers/status.ts';
import { Checks } from './checks.ts';
import { isName, Names } from './dns.ts';
import { failureOf } from './failures.ts';
import { Health, healthSettings } from './health.ts';
import { limitsOf, poolTo, tunnelLimitsOf, tunnelsTo } from './pools.ts';
import { isIn } from './probe.ts';
import { type StoreHandle, StoreWentDown } from './upstream.ts';

/** What a store needs of its upstream. */
export interface Surroundings {
  readonly observe: Observe;
  /** Whether enough stores would be left if this one went. */
  readonly mayGo: (store: Store) => boolean;
}

/** One store: the connections to it, and how it is. */
export class Store implements StoreHandle {
  readonly url: string;
  /** Its host and port. */
  readonly name: string;
  readonly upstream: string;
  #told: StoreName;
  readonly pool: Pool;
  readonly #secure: Pick<OpenerOptions, 'tls' | 'lookup'>;
  readonly health: Health;
  readonly #checks: Checks;
  readonly #names: Names | null;
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
    this.#told = toldOf(upstream, this.name, settings);
    this.#weight = weight;
    this.#settings = settings;
    this.#tls = tls;
    this.#surroundings = surroundings;
    const moved = (addresses: ReadonlySet<string>) => this.#keepOnly(addresses);
    this.#names = isName(host) ? new Names({ host, every: settings.dnsRefresh, moved }) : null;
    const secure = { tls: () => this.#tls, lookup: this.#names?.lookup };
    this.pool = poolTo(url, limitsOf(settings), secure);
    this.#secure = secure;
    this.health = new Health(healthSettings(settings), performance.now());
    this.#checks = new Checks({
      url,
      secure,
      settings,
      health: this.health,
      heard: (verdict, error) => {
        if (this.health.checked(verdict, performance.now(), this.#mayGo)) this.#tell(error);
        else if (this.health.ignoresChecks)
          this.#surroundings.observe({
            type: 'upstream.check_failed',
            upstream: this.upstream,
            store: this.name,
            error,
          });
      },
      ticked: () => {
        if (this.health.tick(performance.now())) this.#tell();
      },
    });
  }

  /** The same store for WebSockets, on connections that may change their protocol. They last for hours, so they have no place among the others. */
  get tunnel(): StoreHandle {
    this.#tunnel ??= this.#createTunnel();
    return this.#tunnel;
  }

  get told(): StoreName {
    return this.#told;
  }

  get weight(): number {
    return this.#weight;
  }

  /** Requests that it has to answer. */
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
      since: Math.round(performance.timeOrigin + (health.state === 'away' ? health.awaySince : health.since)),
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
    if (!this.#isFailure(status) && this.health.begun(epoch, now)) this.#tell();
  }

  answered(status: number, epoch: number, now: number): void {
    const isFailure = this.#isFailure(status);
    if (isFailure) this.#failures++;
    const changed = isFailure ? this.health.bad('statuses', epoch, now, this.#mayGo) : this.health.good(epoch, now);
    if (changed) this.#tell(new Error(`it answered ${status}`));
  }

  failed(error: ClientError, epoch: number): void {
    const failure = failureOf(error);
    if (failure === null) {
      this.health.forgone(epoch);
      return;
    }
    this.#failures++;
    if (error.failure === 'unreachable') this.#names?.doubt();
    if (this.health.bad(failure, epoch, performance.now(), this.#mayGo)) this.#tell(error);
  }

  forgone(epoch: number): void {
    this.health.forgone(epoch);
  }

  retried(): void {
    this.#retries++;
  }

  /** Other settings of the same store. */
  use({ weight }: StoreAddress, settings: UpstreamSettings, tls: ClientTls, surroundings: Surroundings): void {
    this.#weight = weight;
    this.#settings = settings;
    this.#told = toldOf(this.upstream, this.name, settings);
    this.#tls = tls;
    this.#surroundings = surroundings;
    this.pool.use(limitsOf(settings));
    this.#tunnels?.use(tunnelLimitsOf(settings));
    this.health.use(healthSettings(settings));
    this.#checks.use(settings);
    this.#names?.use(settings.dnsRefresh);
  }

  /** It is in no settings any more: requests that were given to it are finished. */
  retire(): void {
    this.pool.retire();
    this.#tunnels?.retire();
    this.#letGo();
    const { upstream, name: store, health } = this;
    const { observe } = this.#surroundings;
    // Whoever was told that it is away would wait for ever. What becomes of its last requests is nobody's concern.
    this.#surroundings = { ...this.#surroundings, observe: () => {} };
    if (health.state === 'up') return;
    const duration = Math.round(performance.now() - health.awaySince);
    observe({ type: 'upstream.up', upstream, store, duration, removed: true });
  }

  close(): void {
    this.pool.close();
    this.#tunnels?.close();
    this.#letGo();
  }

  /** Whether the operator counts responses with this status as failures. */
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
      get told() {
        return store.told;
      },
      get isTrial() {
        return store.isTrial;
      },
      begin: (operation) => this.begin(operation),
      begun: (status, epoch, now) => this.begun(status, epoch, now),
      answered: (status, epoch, now) => this.answered(status, epoch, now),
      failed: (error, epoch) => this.failed(error, epoch),
      forgone: (epoch) => this.forgone(epoch),
      retried: () => this.retried(),
    };
  }

  #letGo(): void {
    this.#checks.close();
    this.#names?.close();
  }

  #keepOnly(addresses: ReadonlySet<string>): void {
    this.pool.keepOnly(addresses);
    this.#checks.keepOnly(addresses);
  }

  /** Tells a change of its state. */
  #tell(error?: unknown): void {
    const { upstream, name: store, health } = this;
    const { observe } = this.#surroundings;
    if (health.state === 'up') {
      const duration = Math.round(health.since - health.awaySince);
      observe({ type: 'upstream.up', upstream, store, duration });
    } else if (health.state === 'away') {
      // A return that failed is the same absence.
      if (health.failedReturns === 0)
        observe({ type: 'upstream.down', upstream, store, reason: health.reason!, error });
      this.pool.renew(new StoreWentDown());
    }
    observe({ type: 'upstream.state', upstream, store });
    this.#checks.turn();
  }
}

function toldOf(upstream: string, store: string, { stores }: UpstreamSettings): StoreName {
  return { upstream, store, isSole: stores.length === 1 && upstream === DEFAULT_UPSTREAM };
}
