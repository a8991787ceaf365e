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
        const stores = before.get(name) ?? new Stores(name, settings, this.#observe);
        stores.use(settings, materials[name] ?? null);
        return [name, stores];
      }),
    );
    for (const [name, { stores }] of before)
      if (!this.#byName.has(name)) for (const store of stores) store.retire();
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
    const all = [...this.#byName].filter(([, { stores }]) =>
      stores.every(({ health }) => health.state === 'away'),
    );
    return all.map(([upstream, { readyDuringOutage }]) => ({
      upstream,
      matters: !readyDuringOutage,
    }));
  }

  close(): void {
    for (const store of this.#stores()) store.close();
  }

  #stores(): Store[] {
    return [...this.#byName.values()].flatMap(({ stores }) => stores);
  }
}

/**
 * Shared by all clients. Created here, because an error retains what its stack refers to: a reload
 * and its contract.
 */
const ALL_DOWN = new Outage('upstream_down', { headers: ['Retry-After', '1'] });

export class Stores implements Upstream {
  readonly #name: string;
  readonly #observe: Observe;
  readonly #retries: Retries;
  stores: readonly Store[] = [];
  readyDuringOutage = false;
  #only: Store | null = null;
  #material = '';
  #tls: ClientTls = {};

  /** `use` follows. */
  constructor(name: string, { retries }: UpstreamSettings, observe: Observe) {
    this.#name = name;
    this.#observe = observe;
    this.#retries = new Retries(retries);
  }

  use(settings: UpstreamSettings, material: ClientMaterial | null): void {
    const before = this.stores;
    this.readyDuringOutage = settings.readyDuringOutage;
    this.#retries.settings = settings.retries;
    const text = JSON.stringify(material);
    // TLS sessions are resumed while this is the same object.
    if (text !== this.#material) this.#tls = clientTls(material);
    this.#material = text;
    this.stores = settings.stores.map((address) => {
      const kept = before.find(({ url }) => url === address.url);
      if (kept === undefined)
        return new Store(this.#name, address, settings, this.#tls, this.#observe, this.#mayGo);
      kept.use(address, settings, this.#tls);
      return kept;
    });
    this.#only = this.stores.length === 1 ? this.stores[0]! : null;
    for (const store of before) if (!this.stores.includes(store)) store.retire();
  }

  choose(
    now: number,
    safe: boolean,
    tried: readonly StoreHandle[],
    operation: string,
  ): Store | Outage {
    if (tried.length === 0) this.#retries.count(now);
    const only = this.#only;
    if (only === null) return this.#chooseOf(now, safe, tried, operation);
    return only.health.takes(safe, now, operation) ? only : ALL_DOWN;
  }

  mayRetry(error: ClientError, method: string, times: number): boolean {
    // After a refused connection the next one is refused too, and a single backend gets only one
    // retry.
    if (this.#only !== null && (error.failure === 'unreachable' || times > 0)) return false;
    return this.#retries.allows(error, method, times);
  }

  takeRetry(now: number): boolean {
    return this.#retries.take(now);
  }

  #chooseOf(
    now: number,
    safe: boolean,
    tried: readonly StoreHandle[],
    operation: string,
  ): Store | Outage {
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

  readonly #mayGo = (going: Store): boolean => {
    // Recovering backends serve only a few requests.
    const gone = this.stores.filter(
      (store) => store !== going && store.health.state !== 'up',
    ).length;
    return gone + 1 <= this.stores.length / 2;
  };
}
