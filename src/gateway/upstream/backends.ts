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
import { type Backend, createBackend } from './backend.ts';
import { pickCandidate } from './balancer.ts';
import { Retries } from './retries.ts';
import type { BackendHandle, Upstream } from './upstream.ts';

type Settings = Pick<ServedConfig, 'upstream' | 'upstreams'>;
type UpstreamCertificates = Pick<Certificates, 'upstream' | 'upstreams'>;

/** By name. They outlive reloads. */
export function createUpstreams(
  initial: Settings,
  certificates: UpstreamCertificates,
  observe: Observe,
) {
  let byName: ReadonlyMap<string, Backends> = new Map();
  use(initial, certificates);

  const all = () => [...byName.values()].flatMap(({ backends }) => backends);

  return {
    use,
    /** Configuration and contract have checked the name. */
    of(name: string): Backends {
      const found = byName.get(name);
      if (found === undefined) throw new TypeError(`unknown upstream ${name}`);
      return found;
    },
    get status(): readonly BackendStatus[] {
      return all().map(({ status }) => status);
    },
    /** `matters`: the gateway is unready. */
    get down() {
      const down = [...byName].filter(([, { backends }]) =>
        backends.every(({ health }) => health.state === 'down'),
      );
      return down.map(([upstream, { readyDuringOutage }]) => ({
        upstream,
        matters: !readyDuringOutage,
      }));
    },
    close(): void {
      for (const backend of all()) backend.close();
    },
  };

  /** Removed backends finish their requests. */
  function use(
    { upstream, upstreams }: Settings,
    certificates: UpstreamCertificates,
  ): void {
    const before = byName;
    const materials: Readonly<Record<string, ClientMaterial | null>> = {
      [DEFAULT_UPSTREAM]: certificates.upstream,
      ...certificates.upstreams,
    };
    const all = Object.entries({ [DEFAULT_UPSTREAM]: upstream, ...upstreams });
    byName = new Map(
      all.map(([name, settings]) => {
        const existing =
          before.get(name) ?? createBackends(name, settings, observe);
        existing.use(settings, materials[name] ?? null);
        return [name, existing];
      }),
    );
    for (const [name, { backends }] of before)
      if (!byName.has(name)) for (const backend of backends) backend.retire();
  }
}

export type Upstreams = ReturnType<typeof createUpstreams>;

/**
 * Shared by all clients. Created here, because an error retains what its stack refers to: a reload
 * and its contract.
 */
const ALL_DOWN = new Outage('upstream_down');

/** `use` follows. */
function createBackends(
  upstream: string,
  initial: UpstreamSettings,
  observe: Observe,
) {
  const retries = new Retries(initial.retries);
  let backends: readonly Backend[] = [];
  let readyDuringOutage = false;
  let only: Backend | null = null;
  let material = '';
  let tls: ClientTls = {};

  return {
    get backends() {
      return backends;
    },
    get readyDuringOutage() {
      return readyDuringOutage;
    },
    use(settings: UpstreamSettings, next: ClientMaterial | null): void {
      const before = backends;
      readyDuringOutage = settings.readyDuringOutage;
      retries.settings = settings.retries;
      const text = JSON.stringify(next);
      // TLS sessions are resumed while this is the same object.
      if (text !== material) tls = clientTls(next);
      material = text;
      backends = settings.backends.map((address) => {
        const inForce = { address, settings, tls };
        const kept = before.find(({ url }) => url === address.url);
        if (kept === undefined)
          return createBackend({ upstream, ...inForce, observe, mayGo });
        kept.use(inForce);
        return kept;
      });
      only = backends.length === 1 ? backends[0]! : null;
      for (const backend of before)
        if (!backends.includes(backend)) backend.retire();
    },
    choose(now, safe, tried, operation): Backend | Outage {
      if (tried.length === 0) retries.count(now);
      if (only === null) return chooseOf(now, safe, tried, operation);
      return only.health.takes(safe, now, operation) ? only : ALL_DOWN;
    },
    mayRetry(error, method, times) {
      // After a refused connection the next one is refused too, and a single backend gets only one
      // retry.
      if (only !== null && (error.failure === 'unreachable' || times > 0))
        return false;
      return retries.allows(error, method, times);
    },
    takeRetry: (now) => retries.take(now),
  } satisfies Upstream & Record<string, unknown>;

  function chooseOf(
    now: number,
    safe: boolean,
    tried: readonly BackendHandle[],
    operation: string,
  ): Backend | Outage {
    if (
      tried.length === 0 &&
      backends.every(({ health }) => health.state === 'up')
    )
      return pickCandidate(backends, Math.random);
    const able = backends
      .filter(
        (backend) =>
          !tried.includes(backend) &&
          backend.health.takes(safe, now, operation),
      )
      .map((backend) => ({
        backend,
        weight: backend.weight * backend.health.share(now),
        load: backend.load,
      }));
    if (able.length === 0) return ALL_DOWN;
    return able.length === 1
      ? able[0]!.backend
      : pickCandidate(able, Math.random).backend;
  }

  function mayGo(going: string): boolean {
    // Recovering backends serve only a few requests.
    const gone = backends.filter(
      ({ url, health }) => url !== going && health.state !== 'up',
    ).length;
    return gone + 1 <= backends.length / 2;
  }
}

type Backends = ReturnType<typeof createBackends>;
