import type { ClientError } from '@storegate/http1';
import { type ClientMaterial, type ClientTls, clientTls } from '@storegate/http1/tls';
import type { Certificates } from '../../config/certificates.ts';
import type { ServedConfig, Upstream as UpstreamSettings } from '../../config/config.ts';
import { DEFAULT_UPSTREAM } from '../../config/upstreams.ts';
import { Outage } from '../../errors/outage.ts';
import type { Observe } from '../../observe/events.ts';
import type { StoreStatus } from '../../observe/peers/status.ts';
import { type Candidate, pickCandidate } from './balancer.ts';
import { Retries } from './retries.ts';
import { Store } from './store.ts';
import type { StoreHandle, Upstream } from './upstream.ts';

type Settings = Pick<ServedConfig, 'upstream' | 'upstreams'>;
type UpstreamCertificates = Pick<Certificates, 'upstream' | 'upstreams'>;

/** By name. They outlive reloads. */
export class Upstreams {
  readonly #observe: Observe;
  #byName: ReadonlyMap<string, Stores> = new Map();

  constructor(settings: Settings, certificates: UpstreamCertificates, observe: Observe) {
    this.#observe = observe;
    this.use(settings, certificates);
  }

  /** Removed backends finish their requests. */
  use({ upstream, upstreams }: Settings, certificates: UpstreamCertificates): void {
    const before = this.#byName;
    const materials: Readonly<Record<string, ClientMaterial | null>> = {
      [DEFAULT_UPSTREAM]: certificates.upstream,
      ...certificates.upstreams,
    };
    const all = Object.entries({ [DEFAULT_UPSTREAM]: upstream, ...upstreams });
    this.#byName = new Map(
      all.map(([name, settings]) => {
        const parts = { name, settings, material: materials[name] ?? null, observe: this.#observe };
        return [name, new Stores(parts, before.get(name))];
      }),
    );
    const kept = new Set(this.#stores());
    for (const { stores } of before.values()) for (const store of stores) if (!kept.has(store)) store.retire();
  }

  /** Configuration and contract have checked the name. */
  of(name: string): Stores {
    const found = this.#byName.get(name);
    if (found === undefined) throw new TypeError(`unknown upstream ${name}`);
    return found;
  }

  get status(): readonly StoreStatus[] {
    return this.#stores().map((store) => store.status);
  }

  /** `matters`: the gateway is unready. */
  get down(): readonly { readonly upstream: string; readonly matters: boolean }[] {
    const all = [...this.#byName.values()].filter(({ stores }) =>
      stores.every(({ status }) => status.state === 'away'),
    );
    return all.map(({ name, readyDuringOutage }) => ({ upstream: name, matters: !readyDuringOutage }));
  }

  close(): void {
    for (const store of this.#stores()) store.close();
  }

  #stores(): Store[] {
    return [...this.#byName.values()].flatMap(({ stores }) => stores);
  }
}

interface StoresParts {
  readonly name: string;
  readonly settings: UpstreamSettings;
  readonly material: ClientMaterial | null;
  readonly observe: Observe;
}

/**
 * Shared by all clients. Created here, because an error retains what its stack refers to: a reload and its contract.
 */
const ALL_DOWN = new Outage('upstream_down', { headers: ['Retry-After', '1'] });

export class Stores implements Upstream {
  readonly name: string;
  readonly stores: readonly Store[];
  readonly readyDuringOutage: boolean;
  readonly #only: Store | null;
  readonly #retries: Retries;
  readonly #material: string;
  readonly #tls: ClientTls;

  /** `before`: with other settings, whose backends are kept. */
  constructor({ name, settings, material, observe }: StoresParts, before: Stores | undefined) {
    this.name = name;
    this.readyDuringOutage = settings.readyDuringOutage;
    this.#material = JSON.stringify(material);
    // TLS sessions are resumed while this is the same object.
    const same = before !== undefined && before.#material === this.#material;
    const tls = same ? before.#tls : clientTls(material);
    this.#tls = tls;
    this.#retries = before === undefined ? new Retries(settings.retries) : before.#retries;
    this.#retries.use(settings.retries);
    const surroundings = { observe, mayGo: this.#mayGo };
    this.stores = settings.stores.map((address) => {
      const kept = before?.stores.find(({ url }) => url === address.url);
      if (kept === undefined) return new Store(name, address, settings, tls, surroundings);
      kept.use(address, settings, tls, surroundings);
      return kept;
    });
    this.#only = this.stores.length === 1 ? this.stores[0]! : null;
  }

  choose(now: number, safe: boolean, tried: readonly StoreHandle[], operation: string): Store | Outage {
    if (tried.length === 0) this.#retries.count(now);
    const only = this.#only;
    if (only === null) return this.#chooseOf(now, safe, tried, operation);
    return only.health.takes(safe, now, operation) ? only : ALL_DOWN;
  }

  mayRetry(error: ClientError, method: string, times: number): boolean {
    // After a refused connection the next one is refused too, and a single backend gets only one retry.
    if (this.#only !== null && (error.failure === 'unreachable' || times > 0)) return false;
    return this.#retries.allows(error, method, times);
  }

  takeRetry(now: number): boolean {
    return this.#retries.take(now);
  }

  forTunnels(): Upstream {
    const behind = (tunnels: readonly StoreHandle[]) => this.stores.filter(({ tunnel }) => tunnels.includes(tunnel));
    return {
      choose: (now, safe, tried, operation) => {
        const chosen = this.choose(now, safe, tried.length === 0 ? tried : behind(tried), operation);
        return chosen instanceof Outage ? chosen : chosen.tunnel;
      },
      mayRetry: (error, method, times) => error.failure === 'unreachable' && this.mayRetry(error, method, times),
      takeRetry: (now) => this.takeRetry(now),
    };
  }

  #chooseOf(now: number, safe: boolean, tried: readonly StoreHandle[], operation: string): Store | Outage {
    const { stores } = this;
    if (tried.length === 0 && stores.every(({ health }) => health.state === 'up'))
      return pickCandidate(stores, Math.random);
    const able: (Candidate & { readonly store: Store })[] = [];
    for (const store of stores) {
      if (tried.includes(store) || !store.health.takes(safe, now, operation)) continue;
      able.push({ store, weight: store.weight * store.health.share(now), load: store.load });
    }
    if (able.length === 0) return ALL_DOWN;
    return able.length === 1 ? able[0]!.store : pickCandidate(able, Math.random).store;
  }

  /** As a closure of the constructor it would retain `before`. */
  readonly #mayGo = (going: Store): boolean => {
    // Recovering backends serve only a few requests.
    const gone = this.stores.filter((store) => store !== going && store.health.state !== 'up').length;
    return gone + 1 <= this.stores.length / 2;
  };
}
