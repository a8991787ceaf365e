import type { Certificates } from '../../config/certificates.ts';
import type { ServedConfig, Upstream as UpstreamSettings } from '../../config/config.ts';
import { DEFAULT_UPSTREAM } from '../../config/upstreams.ts';
import type { StoreStatus } from '../../fleet/status.ts';
import { type ClientMaterial, type ClientTls, clientTls } from '../../tls/client.ts';
import { chosen } from './choice.ts';
import { Store } from './store.ts';
import type { Upstream } from './upstream.ts';

type Settings = Pick<ServedConfig, 'upstream' | 'upstreams'>;
type UpstreamCertificates = Pick<Certificates, 'upstream' | 'upstreams'>;

/** All upstreams of a configuration, by their names. They outlive reloads. */
export class Upstreams {
  #byName: ReadonlyMap<string, Stores> = new Map();

  constructor(settings: Settings, certificates: UpstreamCertificates) {
    this.use(settings, certificates);
  }

  /** Stores that are in these settings too stay as they are; others finish what they were given. */
  use({ upstream, upstreams }: Settings, certificates: UpstreamCertificates): void {
    const before = this.#byName;
    const materials: Readonly<Record<string, ClientMaterial | null>> = {
      [DEFAULT_UPSTREAM]: certificates.upstream,
      ...certificates.upstreams,
    };
    const all = Object.entries({ [DEFAULT_UPSTREAM]: upstream, ...upstreams });
    this.#byName = new Map(
      all.map(([name, settings]) => [name, new Stores(name, settings, materials[name] ?? null, before.get(name))]),
    );
    const kept = new Set(this.#stores());
    for (const { stores } of before.values()) for (const store of stores) if (!kept.has(store)) store.retire();
  }

  /** The upstream of this name, which there is: the configuration and the contract were checked. */
  of(name: string): Stores {
    const found = this.#byName.get(name);
    if (found === undefined) throw new TypeError(`there is no upstream ${name}`);
    return found;
  }

  /** How every store stands. */
  get status(): readonly StoreStatus[] {
    return this.#stores().map((store) => store.status);
  }

  /** Those whose stores are all away, and whether the gateway is to be unready for that. */
  get away(): readonly { readonly upstream: string; readonly matters: boolean }[] {
    const all = [...this.#byName.values()].filter(({ stores }) =>
      stores.every(({ status }) => status.state === 'away'),
    );
    return all.map(({ name, readyWhenAway }) => ({ upstream: name, matters: !readyWhenAway }));
  }

  close(): void {
    for (const store of this.#stores()) store.close();
  }

  #stores(): Store[] {
    return [...this.#byName.values()].flatMap(({ stores }) => stores);
  }
}

/** A set of stores that answer the same. */
export class Stores implements Upstream {
  readonly name: string;
  readonly stores: readonly Store[];
  readonly readyWhenAway: boolean;
  readonly #material: string;
  readonly #tls: ClientTls;

  /** `before`: the same upstream in other settings, whose stores are kept. */
  constructor(name: string, settings: UpstreamSettings, material: ClientMaterial | null, before: Stores | undefined) {
    this.name = name;
    this.readyWhenAway = settings.readyWhenAway;
    this.#material = JSON.stringify(material);
    // As long as it is the same object, sessions of TLS are resumed.
    const same = before !== undefined && before.#material === this.#material;
    const tls = same ? before.#tls : clientTls(material);
    this.#tls = tls;
    this.stores = settings.stores.map((address) => {
      const kept = before?.stores.find(({ url }) => url === address.url);
      if (kept === undefined) return new Store(name, address, settings, tls);
      kept.use(address, settings, tls);
      return kept;
    });
  }

  /** The same for requests that change the protocol of their connection. */
  forTunnels(): Upstream {
    return {
      choose: () => {
        const { upstream, name, tunnels } = this.choose();
        return { upstream, name, pool: tunnels() };
      },
    };
  }

  choose(): Store {
    const { stores } = this;
    return stores.length === 1 ? stores[0]! : chosen(stores, Math.random);
  }
}
