import type { ClientError } from '@storegate/http1';
import {
  type ClientMaterial,
  type ClientTls,
  clientTls,
} from '@storegate/http1/tls';
import { Outage } from '../../common/errors/outage.ts';
import type { Certificates } from '../../config/certificates.ts';
import type {
  ServedConfig,
  Upstream as UpstreamSettings,
} from '../../config/config.ts';
import { DEFAULT_UPSTREAM } from '../../config/upstreams.ts';
import type { Observe } from '../../observe/events.ts';
import type { BackendStatus } from '../../observe/peers/status.ts';
import { Backend } from './backend.ts';
import { type Candidate, pickCandidate } from './balancer.ts';
import { Retries } from './retries.ts';
import type { BackendHandle, Upstream } from './upstream.ts';

type Settings = Pick<ServedConfig, 'upstream' | 'upstreams'>;
type UpstreamCertificates = Pick<Certificates, 'upstream' | 'upstreams'>;

/** By name. They outlive reloads. */
export class Upstreams {
  readonly #observe: Observe;
  #byName: ReadonlyMap<string, Backends> = new Map();

  constructor(
    settings: Settings,
    certificates: UpstreamCertificates,
    observe: Observe,
  ) {
    this.#observe = observe;
    this.use(settings, certificates);
  }

  /** Removed backends finish their requests. */
  use(
    { upstream, upstreams }: Settings,
    certificates: UpstreamCertificates,
  ): void {
    const before = this.#byName;
    const materials: Readonly<Record<string, ClientMaterial | null>> = {
      [DEFAULT_UPSTREAM]: certificates.upstream,
      ...certificates.upstreams,
    };
    const all = Object.entries({ [DEFAULT_UPSTREAM]: upstream, ...upstreams });
    this.#byName = new Map(
      all.map(([name, settings]) => {
        const backends =
          before.get(name) ?? new Backends(name, settings, this.#observe);
        backends.use(settings, materials[name] ?? null);
        return [name, backends];
      }),
    );
    for (const [name, { backends }] of before)
      if (!this.#byName.has(name))
        for (const backend of backends) backend.retire();
  }

  /** Configuration and contract have checked the name. */
  of(name: string): Backends {
    const found = this.#byName.get(name);
    if (found === undefined) throw new TypeError(`unknown upstream ${name}`);
    return found;
  }

  get status(): readonly BackendStatus[] {
    return this.#backends().map((backend) => backend.status);
  }

  /** `matters`: the gateway is unready. */
  get down(): readonly {
    readonly upstream: string;
    readonly matters: boolean;
  }[] {
    const all = [...this.#byName].filter(([, { backends }]) =>
      backends.every(({ health }) => health.state === 'down'),
    );
    return all.map(([upstream, { readyDuringOutage }]) => ({
      upstream,
      matters: !readyDuringOutage,
    }));
  }

  close(): void {
    for (const backend of this.#backends()) backend.close();
  }

  #backends(): Backend[] {
    return [...this.#byName.values()].flatMap(({ backends }) => backends);
  }
}

/**
 * Shared by all clients. Created here, because an error retains what its stack refers to: a reload
 * and its contract.
 */
const ALL_DOWN = new Outage('upstream_down');

export class Backends implements Upstream {
  readonly #name: string;
  readonly #observe: Observe;
  readonly #retries: Retries;
  backends: readonly Backend[] = [];
  readyDuringOutage = false;
  #only: Backend | null = null;
  #material = '';
  #tls: ClientTls = {};

  /** `use` follows. */
  constructor(name: string, { retries }: UpstreamSettings, observe: Observe) {
    this.#name = name;
    this.#observe = observe;
    this.#retries = new Retries(retries);
  }

  use(settings: UpstreamSettings, material: ClientMaterial | null): void {
    const before = this.backends;
    this.readyDuringOutage = settings.readyDuringOutage;
    this.#retries.settings = settings.retries;
    const text = JSON.stringify(material);
    // TLS sessions are resumed while this is the same object.
    if (text !== this.#material) this.#tls = clientTls(material);
    this.#material = text;
    this.backends = settings.backends.map((address) => {
      const kept = before.find(({ url }) => url === address.url);
      if (kept === undefined)
        return new Backend(
          this.#name,
          address,
          settings,
          this.#tls,
          this.#observe,
          this.#mayGo,
        );
      kept.use(address, settings, this.#tls);
      return kept;
    });
    this.#only = this.backends.length === 1 ? this.backends[0]! : null;
    for (const backend of before)
      if (!this.backends.includes(backend)) backend.retire();
  }

  choose(
    now: number,
    safe: boolean,
    tried: readonly BackendHandle[],
    operation: string,
  ): Backend | Outage {
    if (tried.length === 0) this.#retries.count(now);
    const only = this.#only;
    if (only === null) return this.#chooseOf(now, safe, tried, operation);
    return only.health.takes(safe, now, operation) ? only : ALL_DOWN;
  }

  mayRetry(error: ClientError, method: string, times: number): boolean {
    // After a refused connection the next one is refused too, and a single backend gets only one
    // retry.
    if (this.#only !== null && (error.failure === 'unreachable' || times > 0))
      return false;
    return this.#retries.allows(error, method, times);
  }

  takeRetry(now: number): boolean {
    return this.#retries.take(now);
  }

  #chooseOf(
    now: number,
    safe: boolean,
    tried: readonly BackendHandle[],
    operation: string,
  ): Backend | Outage {
    const { backends } = this;
    if (
      tried.length === 0 &&
      backends.every(({ health }) => health.state === 'up')
    )
      return pickCandidate(backends, Math.random);
    const able: (Candidate & { readonly backend: Backend })[] = [];
    for (const backend of backends) {
      if (
        tried.includes(backend) ||
        !backend.health.takes(safe, now, operation)
      )
        continue;
      able.push({
        backend,
        weight: backend.weight * backend.health.share(now),
        load: backend.load,
      });
    }
    if (able.length === 0) return ALL_DOWN;
    return able.length === 1
      ? able[0]!.backend
      : pickCandidate(able, Math.random).backend;
  }

  readonly #mayGo = (going: Backend): boolean => {
    // Recovering backends serve only a few requests.
    const gone = this.backends.filter(
      (backend) => backend !== going && backend.health.state !== 'up',
    ).length;
    return gone + 1 <= this.backends.length / 2;
  };
}
